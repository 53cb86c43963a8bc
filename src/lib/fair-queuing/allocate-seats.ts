/**
 * Divides seats among levels with bounds. Source: KEP-1040, "Dispatching", and `computeConcurrencyAllocation`
 * in k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/conc_alloc.go.
 */

/** What a level should get; `0 ≤ lowerBound ≤ target`, and `lowerBound ≤ upperBound`. */
export interface SeatClaim {
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
}

/** Fractions of seats for each claim, in order, and the proportion of its target that each got. */
export interface SeatAllocation {
  readonly seats: readonly number[];
  /** Claims whose bounds do not matter get this multiple of their target. */
  readonly fairProportion: number;
}

/** Smaller targets count as this one, so that proportions of targets exist. */
const targetMin = 0.001;
const epsilon = 0.0000001;
const maxFloat32 = (2 - 2 ** -23) * 2 ** 127;

/**
 * Allocates all seats. Each claim gets the same multiple of its target, within its bounds.
 * @param seats a whole number
 * @returns why it is impossible, if the bounds contradict each other or the number of seats
 */
export function allocateSeats(seats: number, claims: readonly SeatClaim[]): SeatAllocation | { problem: string } {
  const problem = problemOf(seats, claims);
  if (problem !== undefined) return { problem };
  if (seats === 0) return { seats: claims.map(() => 0), fairProportion: 0 };
  const targets = claims.map(({ target }) => Math.max(target, targetMin));
  const lower = claims.map(({ lowerBound }, index) => lowerBound / (targets[index] as number));
  const upper = claims.map(({ upperBound }, index) => upperBound / (targets[index] as number));
  if (sum(claims, "lowerBound") - seats > -epsilon)
    return { seats: claims.map(({ lowerBound }) => lowerBound), fairProportion: Math.min(maxFloat32, ...lower) };
  if (seats - sum(claims, "upperBound") > -epsilon)
    return { seats: claims.map(({ upperBound }) => upperBound), fairProportion: Math.max(0, ...upper) };
  const withoutBounds = seats / targets.reduce((total, target) => total + target, 0);
  const isFree = Math.max(0, ...lower) <= withoutBounds && withoutBounds <= Math.min(maxFloat32, ...upper);
  const fairProportion = isFree
    ? withoutBounds
    : proportionWithBounds(seats, sum(claims, "lowerBound"), boundsOf(targets, lower, upper));
  const seatsOf = (target: number, { lowerBound, upperBound }: SeatClaim): number =>
    isFree ? target * fairProportion : Math.max(lowerBound, Math.min(upperBound, fairProportion * target));
  return { seats: claims.map((claim, index) => seatsOf(targets[index] as number, claim)), fairProportion };
}

function problemOf(seats: number, claims: readonly SeatClaim[]): string | undefined {
  if (seats < 0) return "negative sums are not supported";
  for (const [index, { target, lowerBound, upperBound }] of claims.entries()) {
    if (lowerBound < 0) return `lower bound ${index} is ${lowerBound} but negative lower bounds are not allowed`;
    if (target < lowerBound) return `target ${index} is ${target}, which is below its lower bound of ${lowerBound}`;
    if (upperBound < lowerBound)
      return `upper bound ${index} is ${upperBound} but should not be less than the lower bound ${lowerBound}`;
  }
  const low = sum(claims, "lowerBound");
  const high = sum(claims, "upperBound");
  if (low - seats > epsilon) return `lower bounds sum to ${low}, which is higher than the required sum of ${seats}`;
  if (seats - high > epsilon) return `upper bounds sum to ${high}, which is lower than the required sum of ${seats}`;
  return undefined;
}

function sum(claims: readonly SeatClaim[], bound: "lowerBound" | "upperBound"): number {
  return claims.reduce((total, claim) => total + claim[bound], 0);
}

/** A proportion at which a claim starts to grow with the proportion, or stops. */
interface Bound {
  readonly proportion: number;
  readonly claims: 1 | -1;
  readonly target: number;
}

function boundsOf(targets: readonly number[], lower: readonly number[], upper: readonly number[]): Bound[] {
  return targets
    .flatMap((target, index): Bound[] => [
      { proportion: lower[index] as number, claims: 1, target },
      { proportion: upper[index] as number, claims: -1, target: -target },
    ])
    .sort((a, b) => a.proportion - b.proportion);
}

/** Increases the proportion from bound to bound, until the claims have all seats. */
function proportionWithBounds(seats: number, lowSum: number, bounds: readonly Bound[]): number {
  let allocated = lowSum;
  let proportion = bounds[0]?.proportion ?? 0;
  let growing = 0;
  let growingTargets = 0;
  for (const bound of bounds) {
    if (allocated >= seats) return proportion;
    if (growing > 0) {
      const next = proportion + (seats - allocated) / growingTargets;
      if (next <= bound.proportion) return next;
      allocated += (bound.proportion - proportion) * growingTargets;
    }
    proportion = bound.proportion;
    growing += bound.claims;
    growingTargets += bound.target;
  }
  return proportion;
}
