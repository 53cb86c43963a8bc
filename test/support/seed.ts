/**
 * The seed of random tests: `SEED`, or a new one with `COXSWAIN_TEST_FULL=1`. Without either it is the same each time, so
 * that a failure comes from the change under test; the full run finds new inputs.
 */
export const seed = Number(
  process.env.SEED ?? (process.env.COXSWAIN_TEST_FULL === "1" ? Date.now() % 1_000_000_000 : 1),
);
