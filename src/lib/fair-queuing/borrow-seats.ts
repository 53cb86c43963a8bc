/**
 * Borrowing: levels that need few seats lend some to levels that need more. Source: KEP-1040,
 * "Dispatching", and `updateBorrowingLocked` in
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go.
 */
import { allocateSeats } from "./allocate-seats.ts";
import type { SeatDemandStats } from "./seat-demand.ts";

/** How often limits are adjusted. */
export const borrowingPeriodMs = 10_000;

/** The limits and the demand of a level. Seats are whole numbers. */
export interface BorrowingLevel {
  readonly isExempt: boolean;
  /** The configured limit. */
  readonly nominal: number;
  /** The nominal limit without what the level can lend. */
  readonly min: number;
  /** The nominal limit with what the level can borrow. */
  readonly max: number;
  /** The limit until now. */
  readonly current: number;
  /** With the last period. */
  readonly demand: SeatDemandStats;
}

/** The new limits. */
export interface AdjustedLimits {
  /** Seats of each level, in order. */
  readonly limits: readonly number[];
  /**
   * For metrics. Exempt levels have none: upstream shows that of any other level, and this the first
   * one.
   */
  readonly targets: readonly number[];
  /** For the metric seat_fair_frac. */
  readonly fairFraction: number;
  /** Set if the seats cannot be allocated; all limits that are not exempt stay. */
  readonly problem?: string;
}

/**
 * Derives the limits of the next period from the demand of the last ones.
 * @param seats the sum of the nominal limits of all levels
 */
export function adjustLimits(levels: readonly BorrowingLevel[], seats: number): AdjustedLimits {
  const lowest = levels.map(lowestLimit);
  const limited = levels.flatMap((level, index) => (level.isExempt ? [] : [index]));
  const targetOf = (index: number): number =>
    Math.max(lowest[index] as number, (levels[index] as BorrowingLevel).demand.smoothed);
  const targetOfExempt = limited[0] === undefined ? 0 : targetOf(limited[0]);
  const targets = levels.map(({ isExempt }, index) => (isExempt ? targetOfExempt : targetOf(index)));
  const sumOf = (seatsOf: (index: number) => number): number =>
    limited.reduce((total, index) => total + seatsOf(index), 0);
  const exemptSeats = levels.reduce(
    (total, level, index) => total + (level.isExempt ? (lowest[index] as number) : 0),
    0,
  );
  const minOf = (index: number): number => (levels[index] as BorrowingLevel).min;
  const remaining = seats - exemptSeats;
  const minSum = sumOf(minOf);
  const lowestSum = sumOf((index) => lowest[index] as number);
  const setLimits = (limitOf: (index: number) => number): number[] =>
    levels.map(({ isExempt }, index) => (isExempt ? (lowest[index] as number) : limitOf(index)));
  if (remaining <= minSum) return { limits: setLimits(minOf), targets, fairFraction: 0 };
  if (remaining <= lowestSum) {
    const share = (remaining - minSum) / (lowestSum - minSum);
    const limitOf = (index: number): number =>
      minOf(index) + Math.round(((lowest[index] as number) - minOf(index)) * share);
    return { limits: setLimits(limitOf), targets, fairFraction: 0 };
  }
  const claims = limited.map((index) => ({
    target: targets[index] as number,
    lowerBound: lowest[index] as number,
    upperBound: (levels[index] as BorrowingLevel).max,
  }));
  const allocation = allocateSeats(seats, claims);
  if ("problem" in allocation) {
    const limits = setLimits((index) => (levels[index] as BorrowingLevel).current);
    return { limits, targets, fairFraction: 0, problem: allocation.problem };
  }
  const limits = setLimits((index) => Math.round(allocation.seats[limited.indexOf(index)] as number));
  return { limits, targets, fairFraction: allocation.fairProportion };
}

/** What a level keeps in any case if there are enough seats: what it needed, up to its own. */
function lowestLimit({ isExempt, nominal, min, demand }: BorrowingLevel): number {
  return Math.max(min, isExempt ? demand.highWatermark : Math.min(nominal, demand.highWatermark));
}
