/** Scans of many entries, in steps between which other requests run. */
import type { Entry } from "../watch-cache/contract.ts";

/**
 * Runs work that does not wait for anything, when it is the request's turn. The work returns the
 * bytes that it wrote: a scan writes none.
 * @returns undefined if the work has run; else a promise that resolves when it has, or rejects
 */
export type RunInTurn = (work: () => number) => Promise<void> | undefined;

/** Entries that a selector checks before other requests run. */
export const scannedMax = 250;

/** Runs work after the other requests that can run now: the turns of callers without flow control. */
export const afterOthers: RunInTurn = async (work) => {
  await new Promise((resolve) => setImmediate(resolve));
  work();
};

/**
 * Runs steps until one returns true. The first step is part of the turn in which the request
 * started; each of the others waits for its own turn.
 */
export async function inSteps(step: () => boolean, inTurn: RunInTurn): Promise<void> {
  let isComplete = step();
  const next = (): number => {
    isComplete = step();
    return 0;
  };
  while (!isComplete) {
    const pending = inTurn(next);
    if (pending !== undefined) await pending;
  }
}

/** Runs the part of some work that does not wait in a turn; without turns, at once. */
export async function startInTurn<Result>(
  start: () => Promise<Result>,
  inTurn: RunInTurn | undefined,
): Promise<Result> {
  if (inTurn === undefined) return start();
  let started: Promise<Result> | undefined;
  const pending = inTurn(() => {
    started = start();
    return 0;
  });
  if (pending !== undefined) await pending;
  return started as Promise<Result>;
}

/**
 * Selects entries for a reader that writes them in pieces.
 * @returns selected entries, and undefined after each {@link scannedMax} entries that do not match,
 *   where the reader can let other requests run
 */
export function* selectedInSteps(
  all: Iterable<Entry>,
  matches: (entry: Entry) => boolean,
): Generator<Entry | undefined, void, void> {
  let skipped = 0;
  for (const entry of all) {
    if (matches(entry)) yield entry;
    else if (++skipped % scannedMax === 0) yield undefined;
  }
}
