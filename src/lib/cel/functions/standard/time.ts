/** Parts of timestamps and durations. Source: cel-spec, "List of Standard Definitions". */
import type { FunctionDeclaration } from "../../declarations.ts";
import { durationType, intType, stringType, timestampType } from "../../types.ts";
import { CelFailure } from "../../values/failure.ts";
import { intOf } from "../../values/int.ts";
import { wallClock } from "../../values/time.ts";
import type { CelDuration, CelInt, CelTimestamp, Result } from "../../values/value.ts";
import { declare, member } from "../declare.ts";

/**
 * Declares an accessor of timestamps, in UTC or in a zone.
 *
 * @param id part of the overload identifiers, such as `day_of_year`
 * @param part reads a date whose UTC fields are the wall clock time
 */
function ofTimestamp(
  name: string,
  id: string,
  part: (clock: Date) => number,
  ...more: Parameters<typeof declare>[1][]
): FunctionDeclaration {
  const inZone = (timestamp: CelTimestamp, zone: string): Result => {
    const clock = wallClock(timestamp, zone);
    return clock instanceof CelFailure ? clock : part(clock);
  };
  return declare(
    name,
    member(`timestamp_to_${id}`, [timestampType], intType, {
      evaluate: (timestamp: CelTimestamp) => inZone(timestamp, "UTC"),
    }),
    member(
      id === "seconds" ? "timestamp_to_seconds_tz" : `timestamp_to_${id}_with_tz`,
      [timestampType, stringType],
      intType,
      { evaluate: inZone },
    ),
    ...more,
  );
}

/**
 * Declares an accessor of the whole duration in a unit. As in cel-go, `getMilliseconds` returns the
 * whole duration too, although cel-spec defines it as the milliseconds of the last second.
 */
function ofDuration(id: string, unit: bigint): Parameters<typeof declare>[1] {
  return member(`duration_to_${id}`, [durationType], intType, {
    evaluate: (duration: CelDuration) => intOf(duration.nanoseconds / unit) as CelInt,
  });
}

function dayOfYear(clock: Date): number {
  const start = new Date(0).setUTCFullYear(clock.getUTCFullYear(), 0, 1);
  return Math.floor((clock.getTime() - start) / 86_400_000);
}

export const time: readonly FunctionDeclaration[] = [
  ofTimestamp("getFullYear", "year", (clock) => clock.getUTCFullYear()),
  ofTimestamp("getMonth", "month", (clock) => clock.getUTCMonth()),
  ofTimestamp("getDayOfYear", "day_of_year", dayOfYear),
  ofTimestamp("getDayOfMonth", "day_of_month", (clock) => clock.getUTCDate() - 1),
  ofTimestamp("getDate", "day_of_month_1_based", (clock) => clock.getUTCDate()),
  ofTimestamp("getDayOfWeek", "day_of_week", (clock) => clock.getUTCDay()),
  ofTimestamp("getHours", "hours", (clock) => clock.getUTCHours(), ofDuration("hours", 3_600_000_000_000n)),
  ofTimestamp("getMinutes", "minutes", (clock) => clock.getUTCMinutes(), ofDuration("minutes", 60_000_000_000n)),
  ofTimestamp("getSeconds", "seconds", (clock) => clock.getUTCSeconds(), ofDuration("seconds", 1_000_000_000n)),
  ofTimestamp(
    "getMilliseconds",
    "milliseconds",
    (clock) => clock.getUTCMilliseconds(),
    ofDuration("milliseconds", 1_000_000n),
  ),
];
