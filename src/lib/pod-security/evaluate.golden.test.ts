/** Compares checks and policies with those of upstream, which tools/golden/pod-security records. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { joinErrors, quoteGo } from "../json/quote.ts";
import { allChecks } from "./all-checks.ts";
import { evaluatePod } from "./evaluate.ts";
import { formatLevelVersion, type LevelVersion, parseLevel, parseVersion } from "./levels.ts";
import type { Pod } from "./pod.ts";
import { parsePolicy } from "./policy.ts";

interface CheckRow {
  readonly id: string;
  readonly level: string;
  readonly versions: readonly { readonly since: number; readonly overrides?: readonly string[] }[];
}

interface PodRow {
  readonly name: string;
  readonly pod: Pod;
  readonly results: readonly {
    readonly level: string;
    readonly first: string;
    readonly last: string;
    readonly failed: readonly (readonly [reason: string, detail: string])[];
  }[];
}

interface LabelRow {
  readonly labels: Readonly<Record<string, string>>;
  readonly defaults: Readonly<Record<"enforce" | "audit" | "warn", string>>;
  readonly policy: Readonly<Record<"enforce" | "audit" | "warn", string>>;
  readonly error?: string;
}

const rows: object[] = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/checks.jsonl.gz")))
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const versions = [...Array.from({ length: 37 }, (_, minor) => `v1.${minor}`), "v1.99", "latest"];

function levelVersion(text: string): LevelVersion {
  const [level = "", version = ""] = text.split(":");
  const parsed = { level: parseLevel(level), version: parseVersion(version) };
  assert.ok(parsed.level !== undefined && parsed.version !== undefined, text);
  return { level: parsed.level, version: parsed.version };
}

test("has upstream's checks with their levels, versions and overrides", () => {
  const [{ checks }] = rows.filter((row): row is { checks: CheckRow[] } => "checks" in row) as [{ checks: CheckRow[] }];
  const own = allChecks.map(({ id, level, versions }) => ({
    id,
    level,
    versions: versions.map(({ since, overrides }) => ({ since, ...(overrides && { overrides }) })),
  }));
  const byId = (one: CheckRow, other: CheckRow): number => (one.id < other.id ? -1 : 1);
  assert.deepEqual(own.toSorted(byId), checks.toSorted(byId));
});

test("lists the checks of baseline before those of restricted, by id", () => {
  const order = allChecks.map(({ level, id }) => `${level} ${id}`);
  assert.deepEqual(order, order.toSorted());
});

test("finds upstream's violations of pods at every level and version", () => {
  const pods = rows.filter((row): row is PodRow => "pod" in row);
  assert.ok(pods.length > 1500);
  for (const { name, pod, results } of pods) {
    for (const { level, first, last, failed } of results) {
      for (const version of versions.slice(versions.indexOf(first), versions.indexOf(last) + 1)) {
        const own = evaluatePod(levelVersion(`${level}:${version}`), pod);
        assert.deepEqual(
          own.map(({ reason, detail }) => [reason, detail]),
          failed,
          `${name} at ${level}:${version}`,
        );
      }
    }
  }
});

test("names the violating fields of each violation", () => {
  for (const { pod } of rows.filter((row): row is PodRow => "pod" in row)) {
    for (const { id, fields } of evaluatePod(levelVersion("restricted:latest"), pod)) {
      assert.ok(fields.length > 0, id);
      for (const { path, value } of fields) assert.deepEqual(valueAt(pod, path), value, `${id} ${path}`);
    }
  }
});

/** Reads `spec.containers[0].name` and `metadata.annotations[key]`. */
function valueAt(object: unknown, path: string): unknown {
  const keys = [...path.matchAll(/([^.[\]]+)|\[([^\]]+)\]/g)].map(([, name, key]) => name ?? key);
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key as string], object);
}

test("reads upstream's policies and errors from labels", () => {
  const sets = rows.filter((row): row is LabelRow => "labels" in row);
  assert.ok(sets.length > 0);
  for (const { labels, defaults, policy, error } of sets) {
    const parsed = parsePolicy((label) => labels[label], {
      enforce: levelVersion(defaults.enforce),
      audit: levelVersion(defaults.audit),
      warn: levelVersion(defaults.warn),
    });
    const modes = ["enforce", "audit", "warn"] as const;
    const own = Object.fromEntries(modes.map((mode) => [mode, formatLevelVersion(parsed.policy[mode])]));
    assert.deepEqual(own, policy, JSON.stringify(labels));
    const errors = parsed.problems.map(
      ({ label, value, message }) => `metadata.labels[${label}]: Invalid value: ${quoteGo(value)}: ${message}`,
    );
    assert.equal(joinErrors(errors), error ?? "");
  }
});
