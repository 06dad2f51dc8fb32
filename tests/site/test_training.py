"""The training in the page: Python's numbers, a check that slips turn red, and its readers."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

from bookbuild.site.scripts import TABLE
from browser import call, opened, says, script_of
from emergence import models, subspace, tasks, training

PAIRS, DIM, BATCH, STEPS = 3, 6, 16, 50
NORMALS = 10_000_000
RANDOM, ENGINE = "explorables/random.js", "explorables/train.js"
WORK = Path(__file__).with_name("training.js")
UNITS = (DIM, DIM, 1)  # scores over weights, by layer
BASE = {
    "pairs": PAIRS, "dim": DIM, "batch": BATCH, "mask": "strict", "asked": "one",
    "optimiser": "sgd", "rate": 0.3, "seed": 3, "trained": "all", "held": [None] * 3,
}  # fmt: skip
RUNS = {
    "one query, strict": {"start": True},
    "one query, causal": {"mask": "causal", "start": True},
    "every position, strict": {"asked": "every", "start": True},
    "every position, causal": {"asked": "every", "mask": "causal", "start": True},
    "AdamW": {"optimiser": "adamw", "rate": 0.01},
    "two held": {"held": [0.3, None, 1.0]},
    "only three": {"trained": "three", "rate": 2.0},
    "only three under AdamW": {"trained": "three", "optimiser": "adamw", "rate": 0.01},
}
PREDICTED = {
    f"{asked}, {mask}, {trained}, {held}": BASE
    | {"asked": asked, "mask": mask, "trained": trained, "held": [held, None, None]}
    for asked in ("one", "every")
    for mask in ("strict", "causal")
    for trained, held in (("all", None), ("three", None), ("all", 2.0))
}


def in_python(setting, steps):
    """A training's settings as the library has them."""
    named = zip(subspace.INDUCTION_HEAD, setting["held"], UNITS, strict=True)
    return training.MinimalTraining(
        PAIRS, DIM, BATCH, steps, mask=setting["mask"], learning_rate=setting["rate"],
        supervision="query" if setting["asked"] == "one" else "every",
        trained=subspace.INDUCTION_HEAD if setting["trained"] == "three" else (),
        held=tuple((name, held / unit) for name, held, unit in named if held is not None),
    )  # fmt: skip


def in_scores(pseudo):
    return pseudo * np.repeat(UNITS, [3, 12, 4])


def packed(array):
    """Numbers as text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=np.float64).tobytes()).decode()


def flat(parts):
    return torch.cat([part.detach().flatten() for part in parts]).numpy()


def loss_of(weights, context, asked, mask):
    """Eq. 1 as it is written, or its queries of every prefix."""
    pick = asked.wanted[..., None].expand(-1, -1, DIM)
    target = context[:, 1::2, :DIM].gather(1, pick)
    queries = torch.cat([context[:, 0::2, :DIM].gather(1, pick), 0 * target], dim=-1)
    if queries.shape[1] > 1:
        output = training.prefix_output(weights, context, queries, asked.sizes, mask)
    else:
        inputs = torch.cat([context, queries], dim=1)
        output = models.disentangled_output(weights, inputs, mask=mask)[:, None]
    return (output - target).square().mean()


def attention_of(weights, context, wanted, mask):
    """Layer 1's attention in the context, and the query's in layer 2, as Eq. 1 is written."""
    query = context[2 * wanted].clone()
    query[DIM:] = 0
    inputs = torch.cat([context, query[None]])[None]
    allowed = models.allowed_positions(inputs.shape[-2], mask, inputs.device)
    first = models.attention(models.apply(inputs, weights.w1) @ inputs.mT, allowed)
    stream = torch.cat([inputs, first @ inputs], dim=-1)
    second = models.attention(models.apply(stream, weights.w2) @ stream.mT, allowed)
    return flat([first[0, :-1, :-1], second[0, -1]])


def reference(setting):
    """A training by autograd and PyTorch's optimiser, and what the page is given of it."""
    random, setting = "start" in setting, BASE | setting
    stream, mask = torch.Generator().manual_seed(7), setting["mask"]
    kept = in_python(setting, STEPS)
    network = (training.Constrained if kept.trained else training.Full)(kept, "dense")
    parameters = [part[0] for part in network.start([stream], torch.float64)]
    if random:  # so that no derivative vanishes
        parameters = [
            0.3 * torch.randn(part.shape, generator=stream, dtype=part.dtype) / DIM**0.5
            for part in parameters
        ]
    job = {"setting": setting, "start": packed(flat(parameters)) if random else None}
    adam = torch.optim.AdamW(parameters, lr=setting["rate"])  # decay 0.01, as PyTorch has it
    three = torch.tensor([name in kept.trained for name in subspace.NAMES])
    batches, result = [], {"losses": [], "scores": []}
    for step in range(STEPS):
        context = tasks.gaussian_pairs(BATCH, PAIRS, DIM, generator=stream).inputs[:, :-1]
        asked = training.draw_queries(setting["asked"], BATCH, PAIRS, generator=stream)
        batches.append((context.numpy(), asked.wanted.numpy()))
        free = [part.requires_grad_() for part in parameters]
        weights = models.Weights(*(w[0] for w in network.weights([part[None] for part in free])))
        loss = loss_of(weights, context, asked, mask)
        if step == 0:
            slope = torch.autograd.grad(loss, tuple(weights), retain_graph=True)
            wanted = int(asked.wanted[0, -1])
            result |= {"slope": slope, "attention": attention_of(weights, context[0], wanted, mask)}
        result["losses"].append(loss.item())
        result["scores"].append(in_scores(subspace.project(weights)[0].stacked().detach().numpy()))
        gradient = torch.autograd.grad(loss, free)
        with torch.no_grad():
            if setting["optimiser"] == "sgd":
                network.descend([part[None] for part in parameters], [g[None] for g in gradient])
                continue
            for part, g in zip(parameters, gradient, strict=True):
                part.grad = g if part.ndim > 1 else g * three / DIM  # as Constrained has it
            adam.step()
    result["weights"] = flat(network.weights([part[None] for part in parameters]))
    x, wanted = (np.stack(parts) for parts in zip(*batches, strict=True))
    return result, job | {"x": packed(x), "wanted": packed(wanted)}


@pytest.fixture(scope="module")
def python():
    """The trainings and predictions of Python, and what the page is asked to do."""
    results, jobs = zip(*map(reference, RUNS.values()), strict=True)
    laws = [training.predict_minimal(in_python(setting, 29)) for setting in PREDICTED.values()]
    paths = [np.column_stack([in_scores(law.pseudo), law.loss]) for law in laws]
    settings = [BASE | {"batch": 400, "asked": asked} for asked in ("one", "every")]
    job = {"runs": jobs, "predicted": list(PREDICTED.values()), "settings": settings}
    return results, paths, job


@pytest.fixture(scope="module")
def blank(browser, python):
    """A page that has what it is asked to do, and nothing else."""
    with opened(browser) as page:
        page.evaluate("(job) => { globalThis.job = job; }", python[2])
        yield page


def relative(result, expected):
    """The largest deviation, relative to the largest value."""
    return np.abs(np.subtract(result, expected)).max() / np.abs(expected).max()


def faults(page, python, script, count):
    """What a script does otherwise than Python; so many random numbers are looked at."""
    results, paths, job = python
    work = f"const T = {TABLE}; return ({WORK.read_text(encoding='utf-8')})(job, count);"
    found = json.loads(
        page.evaluate(f"(count) => {{ {TABLE} = undefined; {script} {work} }}", count)
    )
    sizes = {}
    for name, expected, got in zip(RUNS, results, found["trained"], strict=True):
        at = np.cumsum([4 * DIM**2, 16 * DIM**2])  # each matrix against its own largest entry
        for part, slope in zip(np.split(got["slope"], at), expected["slope"], strict=True):
            if slope.any():
                size = relative(part, slope.flatten().numpy()) / 1e-10
                sizes["gradient", name] = max(size, sizes.get(("gradient", name), 0))
        sizes["attention", name] = relative(got["attention"], expected["attention"]) / 1e-10
        for what in ("losses", "scores", "weights"):
            sizes[what, name] = np.abs(np.subtract(got[what], expected[what])).max() / 1e-8
    for name, path, got in zip(PREDICTED, paths, found["descents"], strict=True):
        sizes["prediction", name] = relative(got, path) / 1e-10
    for k, error in enumerate(errors_of(found["moments"], count)):
        sizes["random numbers", k] = abs(error) / 4
    wrong = [key for key, size in sizes.items() if not size < 1]
    for setting, batch in zip(job["settings"], found["drawn"], strict=True):
        wrong += misdrawn(setting, *map(np.array, batch))
    return wrong


def misdrawn(setting, x, query, target, sizes, wanted):
    """What is wrong with a batch: Eqs. 3 and 4, and that every query asks for what it may see."""
    batch = setting["batch"]
    seen = np.arange(1, PAIRS + 1) if setting["asked"] == "every" else np.array([PAIRS])
    rows = x.reshape(batch, PAIRS, 2, 2, DIM)  # item and label; content and position
    pick = np.arange(batch)[:, None], wanted.reshape(batch, -1).astype(int)
    counts = [np.bincount(w, minlength=n) for w, n in zip(pick[1].T, seen, strict=True) if n > 1]
    drawn = rows.reshape(-1, 4 * DIM)[:, : 3 * DIM]
    truths = {
        "M p": np.array_equal(rows[:, :, 1, 1], np.roll(rows[:, :, 0, 1], DIM // 2, axis=-1)),
        "numbers": len(np.unique(drawn)) == drawn.size,
        "items": np.array_equal(query.reshape(batch, -1, 4, DIM)[:, :, 0], rows[*pick, 0, 0]),
        "positions of queries": not query.reshape(batch, -1, 4, DIM)[:, :, 1:].any(),
        "labels": np.array_equal(target.reshape(batch, -1, DIM), rows[*pick, 1, 0]),
        "prefixes": (sizes.reshape(batch, -1) == 2 * seen).all() and (pick[1] < seen).all(),
        "pairs": min(stats.chisquare(count).pvalue for count in counts) > 1e-3,
    }
    return [(name, setting["asked"]) for name, true in truths.items() if not true]


def errors_of(sums, count):
    """Moments, tails and correlation of neighbours of normal numbers, in standard errors."""
    tails = 2 * stats.norm.sf([3, 3.5])
    exact = np.array([0, 1, 0, 3, 15, *tails, 0])
    variance = np.array([1, 2, 15, 96, 10170, *(tails * (1 - tails)), 1])
    return (np.array(sums) - count * exact) / np.sqrt(count * variance)


def test_it_trains_and_predicts_as_python_does(blank, python):
    assert faults(blank, python, script_of(RANDOM) + script_of(ENGINE), NORMALS) == []


SLIPS = {
    "a row that sees itself": ("row + (causal ? 1 : 0), cols)", "row + 1, cols)"),
    "a query blind to itself": ("if (causal) add(found, m * q, own[m], query, m * q, q);", ""),
    "M left out of the data": ("x[at + d + (i + half) % d]", "x[at + d + i]"),
    "M left out of alpha_3": ("swapped ? (i + d / 2) % d : i", "i"),
    "a softmax without its mean": ("* (G[at2 + j] - mean)", "* G[at2 + j]"),
    "layer 1 of contexts": ("multiply(slope, 0, wide, x,", "multiply(dS, 0, wide, x,"),
    "layer 1 of queries": ("multiply(slope, 0, wide, query,", "multiply(dS, 0, wide, query,"),
    "a sum over dimensions": ("share[Math.floor(i / d)] / d;", "share[Math.floor(i / d)];"),
    "a decay without the rate": ("0.01 * rate * weights[i]", "0.01 * weights[i]"),
    "no correction of the bias": ("Math.sqrt(1 - 0.999 ** time)", "1"),
    "a clamp that is not put back": ("this.hold();\n}\nentries", "}\nentries"),
    "a prediction at another rate": ("layer === 2 ? 1 / dim : dim", "layer === 2 ? 1 / dim : 1"),
    "only last pairs": ("Math.floor(seen * uniform())", "seen - 1"),
    "tails that are cut off": ("Math.log(1 - uniform())", "Math.log(1 - 0.9999 * uniform())"),
    "a number twice": ("both(x, at + i);", "x.fill(this.stream.normal(), at + i, at + i + 2);"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_slip_of_the_script_is_found(blank, python, slip):
    script = script_of(RANDOM) + script_of(ENGINE)
    assert script.count(slip[0]) == 1
    count = NORMALS if slip[0] in script_of(RANDOM) else 1
    assert faults(blank, python, script.replace(*slip), count) != []


def test_all_its_script_is_short():
    assert len(script_of("explorables/training.js").encode()) < 40_000


def test_most_steps_of_the_front_run_are_on_the_plateau(modules):
    loss = training.predict_minimal(training.MinimalTraining(16, 32, 256, 400)).loss
    rows = np.column_stack([np.zeros((len(loss), 19)), loss]).tolist()
    steps = call(modules, "training-view", "m.lastStep({ rows: x })", rows)
    assert (loss[:steps] > 0.9).sum() > 0.6 * steps


MOUNT, PAGE = "[data-explorable=training]", "book/paper/05_emergence.html"


@pytest.fixture
def mount(page):
    """The explorable on its page, ready, at a size that takes little time."""
    return page(f"{PAGE}?pairs=4&dim=16", "training").locator(MOUNT)


def test_its_settings_come_from_the_address_and_go_there(page):
    address = f"{PAGE}?pairs=3&mask=causal&asked=every&optimiser=adamw&seed=7&beta=0.5&dim=9&rate=x"
    mount = page(address, "training").locator(MOUNT)
    mount.locator("summary").click()
    assert mount.get_by_label("Pairs in the context, N").input_value() == "3"
    for chosen in ("causal", "every position", "AdamW", "32"):  # there is no D = 9
        assert mount.get_by_label(chosen, exact=True).is_checked()
    assert mount.get_by_label("Seed").input_value() == "7"
    assert mount.get_by_label("Learning rate").input_value() == "0.01"
    assert mount.get_by_label("Value of Dβ₂").input_value() == "0.5"
    mount.get_by_label("Dβ₂ at", exact=True).uncheck()
    mount.get_by_text("SGD", exact=True).click()
    search = mount.page.evaluate("() => location.search + location.hash")
    assert search == "?pairs=3&mask=causal&asked=every&seed=7#train-here"
    again = page(f"{PAGE}{search}", "training").locator(MOUNT)
    assert again.get_by_label("SGD", exact=True).is_checked()


def test_a_head_forms_near_its_prediction_and_leaves_a_shadow(mount):
    summary, keyboard = mount.locator("[role=status]"), mount.page.keyboard
    law = training.predict_minimal(training.MinimalTraining(4, 16, 256, 50))
    says(summary, f"at step {int((law.loss > 0.5).argmin())} as predicted")
    assert mount.locator(".ex-last.ex-curve").count() == 0
    mount.get_by_role("button", name="One step").click()
    says(summary, "After 1 step,")
    mount.get_by_role("button", name="Train").focus()
    keyboard.press("Enter")
    says(summary, "After 50 steps")
    first = mount.locator("tr.q-loss td").all_text_contents()
    assert int(first[0]) == pytest.approx(int(first[1]), rel=0.2)
    mount.get_by_label("Dβ₂ at", exact=True).focus()
    keyboard.press("Space")
    says(summary, "After 0 steps")
    says(summary, f"at step {first[0]} in the last run (Dβ₂ free)")
    assert mount.locator(".ex-last.ex-curve").count() == 4
    assert mount.locator("tr.q-beta td").first.text_content() == "held"


def test_what_a_page_cannot_hold_is_not_trained(mount):
    mount.locator("summary").click()
    mount.get_by_text("1,024", exact=True).click()
    mount.get_by_text("64", exact=True).first.click()
    mount.get_by_label("Pairs in the context, N").focus()
    mount.page.keyboard.press("End")
    says(mount.locator("[role=alert]"), "N · D · B can be up to 262,144")
    assert mount.get_by_role("button", name="Train").is_disabled()


def test_a_divergence_is_said(page):
    mount = page(f"{PAGE}?pairs=2&dim=8&batch=64&rate=100", "training").locator(MOUNT)
    mount.get_by_role("button", name="Train").click()
    says(mount.locator("[role=alert]"), "the loss is no longer finite")


def test_it_leaps_where_less_motion_is_asked_for(calm):
    mount = calm(f"{PAGE}?pairs=2&dim=8&batch=64", "training").locator(MOUNT)
    mount.get_by_text("Train 25 steps").click()
    says(mount.locator("[role=status]"), "After 25 steps")


def test_what_the_exercise_says():
    """With N = 8, D = 16 and D beta_2 held at zero, alone and among all weights."""
    held = {"n_pairs": 8, "dim": 16, "batch_size": 256, "steps": 400, "held": (("beta_2", 0.0),)}
    alone = training.predict_minimal(
        training.MinimalTraining(**held, trained=("alpha_3", "gamma_3"))
    )
    assert not alone.pseudo[:, subspace.HEAD[0]].any()
    assert alone.loss.min() > 0.9
    among = training.predict_minimal(training.MinimalTraining(**held))
    free = training.predict_minimal(training.MinimalTraining(**held | {"held": ()}))
    steps = [int((law.loss > 0.5).argmin()) for law in (among, free)]
    assert steps[0] / steps[1] == pytest.approx(7, abs=0.5)
