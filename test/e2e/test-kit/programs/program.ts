/** Random programs over test servers, as plain data: any part of a program is a program, so that failing ones can be shortened. */

/** The resourceVersion that a write sends: none, that of the object, an earlier one, or that of the next server's object. */
export type SentVersion = "none" | "current" | "stale" | "elsewhere";

/** A write of one object. Numbers choose a server, kind, name or snapshot, modulo their count. */
export interface WriteStep {
  readonly do: "create" | "put" | "patch" | "delete";
  readonly on: number;
  readonly kind: number;
  readonly name: number;
  readonly value: number;
  readonly version: SentVersion;
}

export type Step =
  | WriteStep
  /** @param parity of the values of the objects; 2: all */
  | { readonly do: "deleteCollection"; readonly on: number; readonly kind: number; readonly parity: number }
  /** Checks what all users may do. */
  | { readonly do: "access"; readonly on: number }
  /** Compares all objects, and what all informers have seen. */
  | { readonly do: "compare"; readonly on: number }
  /** Watches from the resourceVersion of an earlier change. */
  | { readonly do: "watchFrom"; readonly on: number; readonly kind: number; readonly back: number }
  /** Cuts the watch of an informer, which continues. */
  | { readonly do: "cut"; readonly on: number; readonly informer: number }
  | { readonly do: "snapshot"; readonly on: number }
  /** Replaces a snapshot by the one that is read from its file. */
  | { readonly do: "save"; readonly snapshot: number }
  | { readonly do: "restore"; readonly on: number; readonly snapshot: number }
  /** Restores while writes of ConfigMaps run. */
  | { readonly do: "race"; readonly on: number; readonly snapshot: number; readonly writes: readonly WriteStep[] }
  | { readonly do: "fork"; readonly on: number }
  /** Starts a server from a snapshot. */
  | { readonly do: "load"; readonly snapshot: number }
  | { readonly do: "close"; readonly on: number };

type Random = (below: number) => number;

const choices = 1000;
const racingWrites = 4;

function write(random: Random): WriteStep {
  const verbs = ["create", "create", "create", "put", "put", "patch", "patch", "delete"] as const;
  const versions = ["none", "none", "current", "stale", "elsewhere"] as const;
  return {
    do: verbs[random(verbs.length)] as WriteStep["do"],
    on: random(choices),
    kind: random(choices),
    name: random(choices),
    value: random(12),
    version: versions[random(versions.length)] as SentVersion,
  };
}

const on = (random: Random): { readonly on: number } => ({ on: random(choices) });
const makers: readonly [weight: number, make: (random: Random) => Step][] = [
  [60, write],
  [2, (random) => ({ do: "deleteCollection", ...on(random), kind: random(choices), parity: random(3) })],
  [4, (random) => ({ do: "access", ...on(random) })],
  [4, (random) => ({ do: "compare", ...on(random) })],
  [3, (random) => ({ do: "watchFrom", ...on(random), kind: random(choices), back: random(choices) })],
  [3, (random) => ({ do: "cut", ...on(random), informer: random(choices) })],
  [6, (random) => ({ do: "snapshot", ...on(random) })],
  [1, (random) => ({ do: "save", snapshot: random(choices) })],
  [8, (random) => ({ do: "restore", ...on(random), snapshot: random(choices) })],
  [3, race],
  [3, (random) => ({ do: "fork", ...on(random) })],
  [1, (random) => ({ do: "load", snapshot: random(choices) })],
  [1, (random) => ({ do: "close", ...on(random) })],
];
/** Each as often as its weight. */
const weighted = makers.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

function race(random: Random): Step {
  const writes = Array.from({ length: racingWrites }, (_, name) => ({ ...write(random), kind: 0, name }));
  return { do: "race", ...on(random), snapshot: random(choices), writes };
}

/** Creates at the beginning, so that the first snapshots have objects. */
const firstCreates = 12;

/** @returns a program of this length */
export function randomProgram(random: Random, length: number): Step[] {
  return Array.from({ length }, (_, index) => {
    const make = weighted[random(weighted.length)] as (typeof weighted)[number];
    return index < firstCreates ? { ...write(random), do: "create" } : make(random);
  });
}

/** @returns a line for each step */
export function formatProgram(steps: readonly Step[]): string {
  return steps.map((step, index) => `  ${index}: ${JSON.stringify(step)}`).join("\n");
}

/** How many shorter programs are tried. */
const attemptsMax = 200;

/**
 * Removes steps as long as the program still fails.
 * @param fails runs a program
 */
export async function shortest(steps: readonly Step[], fails: (steps: Step[]) => Promise<boolean>): Promise<Step[]> {
  let shortened = [...steps];
  let attempts = 0;
  for (let size = shortened.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < shortened.length && attempts < attemptsMax; attempts++) {
      const fewer = shortened.toSpliced(at, size);
      if (await fails(fewer)) shortened = fewer;
      else at += size;
    }
  }
  return shortened;
}
