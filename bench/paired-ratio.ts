/**
 * Whether pairs of costs differ by more than their noise. Source: the paired t-test, of the logarithms of the ratios, with Bonferroni's
 * correction for several lines: https://www.itl.nist.gov/div898/handbook/eda/section3/eda353.htm.
 */

/** A cost before and after a change, measured one after the other. */
export interface Pair {
  readonly base: number;
  readonly now: number;
}

export interface Comparison {
  /** The geometric mean of now / base. */
  readonly ratio: number;
  /** The interval that contains the real ratio, with the confidence of the critical value. */
  readonly low: number;
  readonly high: number;
  readonly verdict: "faster" | "slower" | "no difference";
}

/**
 * Compares pairs. The verdict is `no difference` where the interval contains 1.
 *
 * @param pairs at least two
 * @param critical {@link criticalT} of one degree of freedom less than there are pairs
 */
export function compare(pairs: readonly Pair[], critical: number): Comparison {
  const logs = pairs.map(({ base, now }) => Math.log(now / base));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const half = critical * Math.sqrt(variance / logs.length);
  const [low, high] = [Math.exp(mean - half), Math.exp(mean + half)];
  return { ratio: Math.exp(mean), low, high, verdict: high < 1 ? "faster" : low > 1 ? "slower" : "no difference" };
}

/**
 * The value that the absolute of a t-distributed number exceeds with a probability.
 *
 * @param freedom degrees of freedom
 */
export function criticalT(freedom: number, probability: number): number {
  let [low, high] = [0, 2];
  while (beyond(high, freedom) > probability) high *= 2;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (beyond(middle, freedom) > probability) low = middle;
    else high = middle;
  }
  return high;
}

/** With t = √freedom · tan(angle), the density is a power of the cosine, whose integral is finite. */
function beyond(t: number, freedom: number): number {
  const from = Math.atan(t / Math.sqrt(freedom));
  const power = (angle: number): number => Math.cos(angle) ** (freedom - 1);
  return integral(power, from, Math.PI / 2) / integral(power, 0, Math.PI / 2);
}

/** Simpson's rule. */
function integral(of: (at: number) => number, from: number, to: number): number {
  const steps = 400;
  const width = (to - from) / steps;
  let sum = of(from) + of(to);
  for (let step = 1; step < steps; step++) sum += of(from + step * width) * (step % 2 === 1 ? 4 : 2);
  return (sum * width) / 3;
}
