/** Waits for states in tests. */
import { eventually as repeat } from "../../src/testing/eventually.ts";

/** Long enough for a loaded machine, and for calls of an etcd that is down. */
const timeoutMs = 90_000;
const intervalMsDefault = 50;

/** Options of {@link eventually}. */
export interface UntilOptions {
  /** The longest pause between two checks, in milliseconds: longer for a check that is expensive. */
  readonly intervalMs?: number;
}

/**
 * Repeats a check until it passes, which is when it neither throws nor returns `false`.
 *
 * @param what the state, for the error; a function when it depends on the last check
 * @returns what the check returned
 * @throws Error when the check does not pass in time
 */
export async function eventually<T>(
  what: string | (() => string),
  check: () => T | Promise<T>,
  { intervalMs = intervalMsDefault }: UntilOptions = {},
): Promise<Exclude<T, false>> {
  try {
    return await repeat(check, { timeoutMs, intervalMs });
  } catch (error) {
    throw new Error(`never: ${typeof what === "string" ? what : what()}`, { cause: error });
  }
}

/** Like {@link eventually}; the error shows the check itself. */
export function until<T>(check: () => T | Promise<T>): Promise<Exclude<T, false>> {
  return eventually(String(check), check);
}

/** Checks in a row with the same value after which it is steady. */
const steadyChecks = 12;

/** Waits until a number above 0 is the same in many checks. @returns the number */
export async function untilSteady(value: () => number): Promise<number> {
  let [last, checks] = [0, 0];
  await eventually(
    () => `the number is steady, it is ${last}`,
    () => {
      const now = value();
      checks = now === last ? checks + 1 : 0;
      last = now;
      return now > 0 && checks === steadyChecks;
    },
  );
  return last;
}
