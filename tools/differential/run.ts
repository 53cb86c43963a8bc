/** Runs sequences of all areas in parallel until enough requests are sent. */
import { makeSequence } from "./all-areas.ts";
import { findKnown, type KnownDifference } from "./causes.ts";
import type { Area, Sequence } from "./contract.ts";
import { exchange, type FoundDifference, findDifference, type Plant, type Servers } from "./sequence-run.ts";
import { shrink } from "./shrink.ts";
import { countsOf, type FoundCause, requestsOf, type State } from "./state.ts";

export interface RunOptions {
  readonly areas: readonly Area[];
  readonly requests: number;
  /** Sequences at the same time. */
  readonly jobs: number;
  readonly known: readonly KnownDifference[];
  readonly plant?: Plant;
  /** Runs of smaller sequences for each new cause. */
  readonly shrinkTries: number;
  /** Called after each sequence. */
  readonly onProgress?: () => void;
  readonly onCause?: (found: FoundCause) => void;
}

/** Distinguishes namespaces of one process. */
interface Names {
  next(): string;
}

/** Adds to the state. */
export async function run(servers: Servers, state: State, options: RunOptions): Promise<void> {
  const names = namesOf(state.seed);
  const planned = plan(state, options);
  const work = async (): Promise<void> => {
    for (const [area, index] of planned) {
      await runOne(servers, state, { ...options, names, area, index });
      options.onProgress?.();
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
}

/** One sequence of each area after the other. All jobs share the generator. */
function* plan(state: State, { areas, requests }: RunOptions): Generator<[Area, number]> {
  while (requestsOf(state) < requests)
    for (const area of areas) {
      const index = state.next[area.name] ?? 0;
      state.next[area.name] = index + 1;
      yield [area, index];
    }
}

interface One extends RunOptions {
  readonly names: Names;
  readonly area: Area;
  readonly index: number;
}

async function runOne(servers: Servers, state: State, one: One): Promise<void> {
  const { names, area, index, plant } = one;
  const sequence = makeSequence(area, state.seed, index);
  const pairs = await exchange(servers, sequence, names.next());
  const difference = findDifference(area, pairs, plant);
  const counts = countsOf(state, area.name);
  counts.sequences++;
  counts.requests += pairs.length;
  counts.successes += pairs.filter(({ theirs }) => theirs.status < 300).length;
  if (difference === undefined) return;
  counts.differences++;
  await note(servers, state, sequence, difference, one);
}

/** Shrinks the first sequence of a cause. */
async function note(
  servers: Servers,
  state: State,
  sequence: Sequence,
  difference: FoundDifference,
  one: One,
): Promise<void> {
  const { cause, what } = difference;
  const existing = state.causes.find((found) => found.cause === cause);
  if (existing !== undefined) existing.count++;
  if (existing !== undefined && existing.reason !== once) return;
  const found: FoundCause = existing ?? {
    cause,
    count: 1,
    reason: findKnown(one.known, cause)?.what,
    first: `${one.area.name}:${one.index}`,
    shortest: undefined,
    what,
    ours: shown(difference.ours),
    theirs: shown(difference.theirs),
  };
  if (existing === undefined) state.causes.push(found);
  if (found.reason === undefined || found.reason === once) {
    const cut = { ...sequence, steps: sequence.steps.slice(0, difference.step + 1) };
    const isSame = async (other: Sequence): Promise<boolean> => {
      const pairs = await exchange(servers, other, one.names.next());
      return findDifference(one.area, pairs, one.plant)?.cause === cause;
    };
    found.reason = (await repeats(cut, isSame)) ? undefined : once;
    if (found.reason === undefined) found.shortest = await shrink(cut, isSame, one.shrinkTries);
  }
  one.onCause?.(found);
}

const once = "Not repeatable: it depends on time, such as the second of a timestamp.";

async function repeats(sequence: Sequence, isSame: (sequence: Sequence) => Promise<boolean>): Promise<boolean> {
  for (let left = 3; left > 0; left--) if (await isSame(sequence)) return true;
  return false;
}

function namesOf(seed: number): Names {
  const run = Date.now().toString(36).slice(-6);
  let count = 0;
  return { next: () => `d${seed % 1000}-${run}-${String(count++).padStart(6, "0")}` };
}

const shownMax = 1500;

function shown(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).slice(0, shownMax);
}
