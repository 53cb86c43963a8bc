/** The progress of a run, which a file keeps so that another run continues it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Sequence } from "./contract.ts";

/** What is known about one cause. */
export interface FoundCause {
  readonly cause: string;
  count: number;
  /** The reason if the cause is known. */
  reason: string | undefined;
  /** `AREA:INDEX` of the first sequence. */
  readonly first: string;
  /** Its shortest form. */
  shortest: Sequence | undefined;
  /** Of the shortest form: what differs, and both values. */
  readonly what: string;
  readonly ours: string;
  readonly theirs: string;
}

export interface AreaCounts {
  sequences: number;
  requests: number;
  successes: number;
  /** Sequences with a difference. */
  differences: number;
}

export interface State {
  readonly seed: number;
  /** The next sequence of each area; earlier ones are done. */
  readonly next: Record<string, number>;
  readonly areas: Record<string, AreaCounts>;
  readonly causes: FoundCause[];
  seconds: number;
}

export function newState(seed: number): State {
  return { seed, next: {}, areas: {}, causes: [], seconds: 0 };
}

/** @throws Error if the file is of a run with another seed */
export function readState(file: string, seed: number): State {
  if (!existsSync(file)) return newState(seed);
  const state: State = JSON.parse(readFileSync(file, "utf8"));
  if (state.seed !== seed) throw new Error(`${file} is of a run with --seed ${state.seed}`);
  return state;
}

export function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

export function requestsOf({ areas }: State): number {
  return Object.values(areas).reduce((sum, { requests }) => sum + requests, 0);
}

/** @returns its counts, which the caller increases */
export function countsOf(state: State, area: string): AreaCounts {
  state.areas[area] ??= { sequences: 0, requests: 0, successes: 0, differences: 0 };
  return state.areas[area];
}
