/** Compares what a program did on two servers. */
import { type Difference, jsonDifferences } from "../../test/support/json-differences.ts";
import type { Run } from "./contract.ts";

export interface Comparison {
  readonly objects: number;
  /** Of the kept objects. */
  readonly differences: readonly Difference[];
  /** Writes that the programs sent to one server only. Conflicts, and writes of deleted objects, depend on time: they are left out. */
  readonly writes: readonly string[];
}

const write = /^(?<what>(?:create|update|patch|delete|deletecollection) \S+) → (?<code>\d+)$/;
/** The object was deleted or changed first, by a controller or by another write of the program, or the program did not wait for the answer. */
const overtaken = ["404", "409", "504"];

/** @returns no differences and no writes when the program did the same */
export function compareRuns(ours: Run, theirs: Run): Comparison {
  return {
    objects: Object.values(ours.kept).reduce(
      (all: number, value) => all + (Array.isArray(value) ? value.length : 1),
      0,
    ),
    differences: jsonDifferences(ours.kept, theirs.kept),
    writes: [...onlyTo("coxswain", ours, theirs), ...onlyTo("kube-apiserver", theirs, ours)],
  };
}

function onlyTo(name: string, { requests }: Run, other: Run): string[] {
  return Object.keys(requests).flatMap((request) => {
    const { what, code = "" } = write.exec(request)?.groups ?? {};
    if (what === undefined || overtaken.includes(code)) return [];
    const isKnown = [code, ...overtaken].some((one) => Object.hasOwn(other.requests, `${what} → ${one}`));
    return isKnown ? [] : [`only to ${name}: ${request}`];
  });
}
