"""The training in the page: Python's numbers, a check that slips turn red, and its readers."""

import base64
import json

import numpy as np
import pytest
import torch
from scipy import stats

from bookbuild.site.scripts import TABLE
from browser import MODULES, opened, says, script_of, wait_for_explorables
from emergence import models, subspace, tasks, training

PAIRS, DIM, BATCH, STEPS = 3, 6, 16, 50
NORMALS = 10_000_000
RANDOM, ENGINE = "explorables/random.js", "explorables/train.js"
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
    f"{asked}, {mask}, {trained}": {"asked": asked, "mask": mask, "trained": trained, "held": held}
    for asked in ("one", "every")
    for mask in ("strict", "causal")
    for trained, held in (("all", [None] * 3), ("three", [None] * 3), ("all", [2.0, None, None]))
}
# What runs in the page: trainings on Python's batches, predictions, batches and numbers of its own.
WORK = """({ runs, predicted, settings }, count) => {
    const { stream } = T["explorables/random.js"];
    const Training = T["explorables/train.js"].engine(stream);
    const floats = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
    const trained = runs.map(({ setting, x, wanted, start }) => {
        const run = new Training(setting), all = floats(x), asked = floats(wanted);
        const [losses, scores] = [[], []];
        if (start) run.weights.set(floats(start));
        for (let step = 0; step < all.length / run.x.length; step++) {
            run.x.set(all.subarray(step * run.x.length, (step + 1) * run.x.length));
            for (let m = 0; m < run.sizes.length; m++)
                run.ask(m, run.each === 1 ? run.n : m % run.n + 1, asked[step * run.sizes.length + m]);
            scores.push(run.scores());
            losses.push(run.gradient());
            if (step === 0) var [slope, attention] = [[...run.slope], run.attention().map((part) => [...part])];
            run.descend();
        }
        return { losses, scores, slope, attention, weights: [...run.weights] };
    });
    const descents = predicted.map((setting) => {
        const run = new Training({ ...setting, population: true }), steps = Array.from({ length: 30 });
        return steps.map(() => [...run.scores(), run.step()]);
    });
    const drawn = settings.map((setting) => {
        const run = new Training(setting);
        run.draw();
        return ["x", "query", "target", "sizes", "wanted"].map((name) => [...run[name]]);
    });
    const { both } = stream(11), moments = new Float64Array(8);
    for (let i = 0, before = 0, pair; i < count; i++) {
        if (i % 2 === 0) pair = both();
        const z = pair[i % 2], square = z * z, size = Math.abs(z);
        moments[0] += z;
        moments[1] += square;
        moments[2] += z * square;
        moments[3] += square * square;
        moments[4] += square * square * square;
        moments[5] += size > 3;
        moments[6] += size > 3.5;
        moments[7] += z * before;
        before = z;
    }
    return JSON.stringify({ trained, descents, drawn, moments: [...moments] });
}"""


def base64_of(array):
    return base64.b64encode(np.ascontiguousarray(array, dtype=np.float64).tobytes()).decode()


def batch_of(each, stream):
    """A batch of Python's, and which pair each query asks for."""
    batch = tasks.gaussian_pairs(BATCH, PAIRS, DIM, generator=stream)
    kind = "every" if each > 1 else "one"
    return batch, training.draw_queries(kind, BATCH, PAIRS, generator=stream)


def loss_of(weights, context, asked, mask):
    """Eq. 1 as it is written, or its queries of every prefix."""
    items, labels = context[:, 0::2, :DIM], context[:, 1::2, :DIM]
    pick = asked.wanted[..., None].expand(-1, -1, DIM)
    target = labels.gather(1, pick)
    queries = torch.cat([items.gather(1, pick), torch.zeros_like(target)], dim=-1)
    if queries.shape[1] == 1:
        inputs = torch.cat([context, queries], dim=1)
        output = models.disentangled_output(weights, inputs, mask=mask)[:, None]
    else:
        output = training.prefix_output(weights, context, queries, asked.sizes, mask)
    return (output - target).square().mean()


def start_of(stream):
    """Random weights, so that no derivative vanishes."""
    shapes = (2 * DIM, 2 * DIM), (4 * DIM, 4 * DIM), (8 * DIM, DIM)
    return [
        0.3 * torch.randn(shape, generator=stream, dtype=torch.float64) / DIM**0.5
        for shape in shapes
    ]


def flat(parts):
    return torch.cat([part.detach().flatten() for part in parts]).numpy()


def attention_of(weights, inputs, mask):
    """Layer 1's attention in the context, and the query's in layer 2, as Eq. 1 is written."""
    allowed = models.allowed_positions(inputs.shape[-2], mask, inputs.device)
    first = models.attention(models.apply(inputs, weights.w1) @ inputs.mT, allowed)
    stream = torch.cat([inputs, first @ inputs], dim=-1)
    second = models.attention(models.apply(stream, weights.w2) @ stream.mT, allowed)
    return flat([first[0, :-1, :-1], second[0, -1]])


def reference(setting):
    """A training in Python, by autograd and PyTorch's optimiser, and its batches for the page."""
    settings = BASE | {key: value for key, value in setting.items() if key != "start"}
    stream = torch.Generator().manual_seed(7)
    each, mask, scale = (PAIRS if settings["asked"] == "every" else 1), settings["mask"], [DIM, DIM, 1]
    names = dict(zip(subspace.INDUCTION_HEAD, settings["held"], strict=True))
    kept = training.MinimalTraining(
        PAIRS, DIM, BATCH, STEPS, mask=mask, learning_rate=settings["rate"],
        trained=subspace.INDUCTION_HEAD if settings["trained"] == "three" else (),
        held=tuple((n, v / s) for (n, v), s in zip(names.items(), scale, strict=True) if v is not None),
    )  # fmt: skip
    network = (training.Constrained if kept.trained else training.Full)(kept, "dense")
    parameters = [part[0].clone() for part in network.start([stream], torch.float64)]
    if "start" in setting:
        parameters = start_of(stream)
    first = flat(parameters) if "start" in setting else None
    adam = torch.optim.AdamW(parameters, lr=settings["rate"])  # decay 0.01, as PyTorch has it
    three = torch.tensor([name in kept.trained for name in subspace.NAMES])
    batches, result = [], {"losses": [], "scores": []}
    for step in range(STEPS):
        batch, asked = batch_of(each, stream)
        context = batch.inputs[:, :-1]
        batches.append((context.numpy(), asked.wanted.numpy()))
        free = [part.requires_grad_() for part in parameters]
        weights = models.Weights(*(w[0] for w in network.weights([part[None] for part in free])))
        loss = loss_of(weights, context, asked, mask)
        if step == 0:
            slope = torch.autograd.grad(loss, tuple(weights), retain_graph=True)
            query = context[:1, 2 * int(asked.wanted[0, -1]), :DIM]
            inputs = torch.cat([context[:1], torch.cat([query, 0 * query], dim=-1)[None]], dim=1)
            result["attention"] = attention_of(weights, inputs, mask)
            result["slope"] = flat(slope)
        result["losses"].append(loss.item())
        units = np.repeat([DIM, DIM, 1], [3, 12, 4])
        result["scores"].append(units * subspace.project(weights)[0].stacked().detach().numpy())
        gradient = torch.autograd.grad(loss, free)
        with torch.no_grad():
            if settings["optimiser"] == "sgd":
                network.descend([part[None] for part in parameters], [g[None] for g in gradient])
                continue
            for part, slope in zip(parameters, gradient, strict=True):
                part.grad = slope if part.ndim > 1 else slope * three / DIM  # see Constrained
            adam.step()
    result["weights"] = flat(w[0] for w in network.weights([part[None] for part in parameters]))
    x, wanted = (np.stack(parts) for parts in zip(*batches, strict=True))
    job = {"setting": settings, "x": base64_of(x), "wanted": base64_of(wanted)}
    return result, job | {"start": None if first is None else base64_of(first)}


@pytest.fixture(scope="module")
def python():
    """The trainings and predictions of Python, and what the page is asked to do."""
    results, jobs = zip(*map(reference, RUNS.values()), strict=True)
    paths = []
    for setting in PREDICTED.values():
        named = zip(subspace.INDUCTION_HEAD, setting["held"], (DIM, DIM, 1), strict=True)
        settings = training.MinimalTraining(
            PAIRS, DIM, BATCH, 30, mask=setting["mask"], learning_rate=BASE["rate"],
            supervision={"one": "query"}.get(setting["asked"], setting["asked"]),
            trained=subspace.INDUCTION_HEAD if setting["trained"] == "three" else (),
            held=tuple((name, value / unit) for name, value, unit in named if value is not None),
        )  # fmt: skip
        path = training.predict_minimal(settings)
        scores = path.pseudo * np.repeat([DIM, DIM, 1], [3, 12, 4])
        paths.append(np.column_stack([scores, path.loss])[:-1])
    settings = [BASE | {"batch": 400, "asked": asked} for asked in ("one", "every")]
    predicted = [BASE | setting for setting in PREDICTED.values()]
    return results, paths, {"runs": jobs, "predicted": predicted, "settings": settings}


@pytest.fixture(scope="module")
def blank(browser, python):
    """A page that has what it is asked to do, and nothing else."""
    with opened(browser) as page:
        page.evaluate("(job) => { globalThis.job = job; }", python[2])
        yield page


def relative(result, expected):
    """The largest deviation, relative to the largest value."""
    result, expected = np.ravel(result), np.ravel(expected)
    return np.abs(result - expected).max() / np.abs(expected).max()


def faults(page, python, script, count):
    """What the script in a page does otherwise than Python."""
    results, paths, job = python
    work = f"(count) => {{ {TABLE} = undefined; {script} const T = {TABLE}; return ({WORK})(job, count); }}"
    found = json.loads(page.evaluate(work, count))
    wrong = []
    for name, expected, got in zip(RUNS, results, found["trained"], strict=True):
        at = np.cumsum([4 * DIM**2, 16 * DIM**2])  # each matrix against its own largest entry
        parts = zip(np.split(got["slope"], at), np.split(expected["slope"], at), strict=True)
        deviations = {
            "gradient": (max(relative(*pair) for pair in parts if np.any(pair[1])), 1e-10),
            "attention": (relative(np.hstack(got["attention"]), expected["attention"]), 1e-10),
            "losses": (np.abs(np.subtract(got["losses"], expected["losses"])).max(), 1e-8),
            "scores": (np.abs(np.subtract(got["scores"], expected["scores"])).max(), 1e-8),
            "weights": (np.abs(np.subtract(got["weights"], expected["weights"])).max(), 1e-8),
        }
        wrong += [f"{what}, {name}: {size}" for what, (size, most) in deviations.items() if not size < most]
    for name, path, got in zip(PREDICTED, paths, found["descents"], strict=True):
        if not relative(got, path) < 1e-10:
            wrong.append(f"prediction, {name}: {relative(got, path)}")
    for settings, batch in zip(job["settings"], found["drawn"], strict=True):
        wrong += [f"batch, {settings['asked']}: {what}" for what in misdrawn(settings, *map(np.array, batch))]
    return wrong + [f"moment {k} of normal numbers: {z}" for k, z in enumerate(errors_of(found["moments"], count)) if abs(z) > 4]


def misdrawn(settings, x, query, target, sizes, wanted):
    """What is wrong with a batch: Eqs. 3 and 4, and that every query asks for what it may see."""
    batch, every = settings["batch"], settings["asked"] == "every"
    rows = x.reshape(batch, PAIRS, 2, 2, DIM)  # item and label; content and position
    seen, wanted = np.arange(1, PAIRS + 1) if every else np.array([PAIRS]), wanted.reshape(batch, -1).astype(int)
    of_batch = np.arange(batch)[:, None]
    expected = np.pad(rows[of_batch, wanted, 0, 0], ((0, 0), (0, 0), (0, 3 * DIM)))
    shares = [stats.chisquare(np.bincount(w, minlength=n)).pvalue for w, n in zip(wanted.T, seen, strict=True) if n > 1]
    truths = {
        "M p": np.array_equal(rows[:, :, 1, 1], np.roll(rows[:, :, 0, 1], DIM // 2, axis=-1)),
        "content": len(np.unique(np.delete(rows.reshape(-1, 4 * DIM), slice(3 * DIM, None), axis=1))) == 3 * DIM * batch * PAIRS,
        "query": np.array_equal(query.reshape(batch, -1, 4 * DIM), expected),
        "label": np.array_equal(target.reshape(batch, -1, DIM), rows[of_batch, wanted, 1, 0]),
        "sizes": np.array_equal(sizes.reshape(batch, -1), np.broadcast_to(2 * seen, wanted.shape)),
        "pairs": (wanted < seen).all() and min(shares) > 1e-3,
    }
    return [name for name, true in truths.items() if not true]


def errors_of(moments, count):
    """Moments, both tails and the correlation of neighbours of normal numbers, in standard errors."""
    tails = 2 * stats.norm.sf([3, 3.5])
    exact = np.array([0, 1, 0, 3, 15, *tails, 0])
    variance = np.array([1, 2, 15, 96, 10170, *(tails * (1 - tails)), 1])
    return (np.array(moments) - count * exact) / np.sqrt(count * variance)


def test_it_trains_and_predicts_as_python_does(blank, python):
    assert faults(blank, python, script_of(RANDOM) + script_of(ENGINE), NORMALS) == []


SLIPS = {
    "a row that sees itself": ("row + (causal ? 1 : 0), cols)", "row + 1, cols)"),
    "a query that does not see itself": ("if (causal) add(found, m * q, own[m], query, m * q, q);", ""),
    "M left out of the data": ("x[at + d + (i + half) % d]", "x[at + d + i]"),
    "M left out of alpha_3": ("swapped ? (i + d / 2) % d : i", "i"),
    "a softmax without its mean": ("w[share + j] * (G[at2 + j] - mean)", "w[share + j] * G[at2 + j]"),
    "no gradient through layer 1 of the context": ("multiply(slope, 0, wide, x, at, 1, wide, A, 0,", "multiply(dS, 0, wide, x, at, 1, wide, A, 0,"),
    "no gradient through layer 1 of the query": ("multiply(slope, 0, wide, query, m0 * q, 1, q, A,", "multiply(back, 0, 0, query, m0 * q, 1, q, A,"),
    "a loss that is a sum over dimensions": ("const weight = share[Math.floor(i / d)] / d;", "const weight = share[Math.floor(i / d)];"),
    "a decay after the step": ("weights[i] -= 0.01 * rate * weights[i] + first", "weights[i] -= 0.01 * weights[i] + first"),
    "no bias correction": ("Math.sqrt(1 - 0.999 ** time)", "1"),
    "a clamp that is not put back": ("this.hold();\n}\nentries", "}\nentries"),
    "a prediction at the rate of weights": ("layer === 2 ? 1 / dim : dim", "layer === 2 ? 1 / dim : 1"),
    "every prefix asked for the last pair": ("Math.floor(seen * uniform())", "seen - 1"),
    "tails that are cut off": ("Math.log(1 - uniform())", "Math.log(1 - 0.9999 * uniform())"),
    "the same number twice": ("[x[at + i], x[at + i + 1]] = both()", "x[at + i] = x[at + i + 1] = both()[0]"),
}


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_slip_of_the_script_is_found(blank, python, slip):
    script = script_of(RANDOM) + script_of(ENGINE)
    assert script.count(slip[0]) == 1
    count = NORMALS if slip[0] in script_of(RANDOM) else 1
    assert faults(blank, python, script.replace(*slip), count) != []
