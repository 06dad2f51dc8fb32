"""New places of names that others import by their old paths; kept for one release."""

RT, HEADS = "chapters.beyond.real_transformers", "chapters.paper.induction_heads"
PLACES = {
    "emergence": {
        "running": "running",
        "chapters.companions": "companions",
        "emergence.presets": "preset",
    },
    "emergence.experiments": {
        "emergence.experiments.first_passage": "emergence_steps",
        HEADS: "section_2",
        f"{RT}.token_grid": "token_grid",
    },
    "emergence.analysis": {
        f"{HEADS}.blocks": "blocks:matrix_blocks",
        f"{HEADS}.dominance": "Band Dominance HEAD_BANDS dominance:dominance_of",
        f"{HEADS}.products": "Attended attended Products logits products:products_of",
        f"{RT}.held_out": "held_out:score_held_out is_a_power local_slopes",
        f"{RT}.powers": "PowerLaw power_law",
        "chapters.paper.appendix_c.table": "as_table gap",
        "chapters.paper.training_dynamics": "amplified interval squared_mean",
        "chapters.paper.training_dynamics.norms": "norms:subspace_norms",
    },
    "emergence.theory": {
        "chapters.beyond.batch_noise.output_variance": "output_noise",
        "chapters.beyond.first_integral.drift": "first_integral_drift",
    },
    "emergence.theory.area": {"chapters.beyond.area_law.bounds": "Bounds error_bounds"},
    "emergence.training": {"chapters.beyond.batch_noise.following": "NoiseRecord follow_noise"},
    "emergence.fast": {f"{RT}.side_by_side.networks": "Stacked stacked stacked_logits"},
}


def moved(package: str, name: str) -> AttributeError:
    """The error of a name that a package lacks, with the new place of one that it had."""
    for place, names in PLACES.get(package, {}).items():
        for old, _, new in (each.partition(":") for each in names.split()):
            if old == name:
                to = f"{place}.{new}" if new else place
                return AttributeError(f"{package}.{name} has moved to {to}.")
    return AttributeError(f"module {package!r} has no attribute {name!r}")
