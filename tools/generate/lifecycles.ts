/** tools/generate/data/lifecycles.jsonl: what changes between releases. `npm run golden lifecycles` records it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A feature gate. */
export interface GateLifecycle {
  readonly gate: string;
  /** From the oldest. */
  readonly stages: readonly {
    readonly since: string;
    readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED";
    readonly default: boolean;
    readonly locked?: true;
  }[];
  readonly needs?: readonly string[];
}

/** A kind at one version; releases are as `1.34`. */
export interface KindLifecycle {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
}

interface GroupVersions {
  readonly group: string;
  /** In the order in which upstream prefers them, with those that are not served anymore. */
  readonly versions: readonly string[];
}

export interface Lifecycles {
  readonly gates: readonly GateLifecycle[];
  /** @returns undefined if upstream has no such kind, or if it has no life cycle */
  kind(group: string, version: string, kind: string): KindLifecycle | undefined;
  /** @returns in the order in which upstream prefers them; empty for a group of another scheme */
  versions(group: string): readonly string[];
}

export function readLifecycles(factsDir: string): Lifecycles {
  const lines = readFileSync(join(factsDir, "lifecycles.jsonl"), "utf8").split("\n");
  const rows = lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const kinds = new Map(
    rows.filter((row) => "kind" in row).map((row: KindLifecycle) => [`${row.group}/${row.version}/${row.kind}`, row]),
  );
  const versions = new Map(
    rows.filter((row) => "versions" in row).map((row: GroupVersions) => [row.group, row.versions]),
  );
  return {
    gates: rows.filter((row) => "gate" in row),
    kind: (group, version, kind) => kinds.get(`${group}/${version}/${kind}`),
    versions: (group) => versions.get(group) ?? [],
  };
}

/** @param release such as `1.34` @returns its second number */
export function minorOf(release: string): number {
  return Number(release.slice(release.indexOf(".") + 1));
}
