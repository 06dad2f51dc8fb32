/** In the page: trainings on Python's batches, predictions, batches and random numbers of its own. */
({ runs, predicted, settings }, count) => {
  const { stream } = T["explorables/random.js"];
  const Training = T["explorables/train.js"].engine(stream);
  const floats = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const trained = runs.map(({ setting, x, wanted, start }) => {
    const run = new Training(setting), all = floats(x), asked = floats(wanted);
    const found = { losses: [], scores: [] };
    if (start) run.weights.set(floats(start));
    for (let step = 0; step < all.length / run.x.length; step++) {
      run.x.set(all.subarray(step * run.x.length, (step + 1) * run.x.length));
      for (let m = 0; m < run.sizes.length; m++)
        run.ask(m, run.each === 1 ? run.n : m % run.n + 1, asked[step * run.sizes.length + m]);
      found.scores.push(run.scores());
      found.losses.push(run.gradient());
      if (step === 0) Object.assign(found, { slope: [...run.slope], attention: run.attention().flatMap((part) => [...part]) });
      run.descend();
    }
    return { ...found, weights: [...run.weights] };
  });
  const descents = predicted.map((setting) => {
    const run = new Training({ ...setting, population: true });
    return Array.from({ length: 30 }, () => [...run.scores(), run.step()]);
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
}
