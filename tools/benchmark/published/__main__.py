"""Run both programs and store the figures: python -m tools.benchmark.published --help.

It needs `pip install -r requirements.peers.lock` and access to GitHub.
"""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from tools.benchmark.peers import NotMeasured

from .catformer import CATFORMER, catformer
from .clamping import CLAMPING, TOY, clamping, toy
from .programs import TOLD

STORED = Path(__file__).parents[3] / "data" / "peers" / "published.json"


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=STORED, show_default=True)
def main(output: Path) -> None:
    """Run both published programs beside the book, and store the figures."""
    kept = ("repository", "commit", "file")
    told = {name: {key: TOLD[name][key] for key in kept} for name in TOLD}
    try:
        record = {
            "command": "python -m tools.benchmark.published",
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {name: version(name) for name in ("jax", "torch")},
            "catformer": told["catformer"] | {"settings": CATFORMER} | catformer(),
            "clamping": told["clamping"]
            | {
                "ours_by_their_trainer": {"settings": CLAMPING, "runs": clamping()},
                "their_toy_model": {"settings": TOY, "loss_fell_to_share_at": toy()},
            },
        }
    except NotMeasured as reason:
        lacking = f"{reason}: pip install -r requirements.peers.lock, with access to GitHub"
        raise click.ClickException(lacking) from None
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    click.echo(f"written to {output}")


if __name__ == "__main__":
    main()
