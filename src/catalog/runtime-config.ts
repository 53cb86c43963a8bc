/**
 * Parses `--runtime-config`, which enables and disables versions and resources. Source: Kubernetes
 * docs, The Kubernetes API, API groups and versioning;
 * `k8s.io/apiserver@v0.36.0/pkg/server/resourceconfig/helpers.go`.
 */

import { parseBool } from "../apimachinery/parse-bool.ts";
import type { BuiltinVersion } from "./builtin-definitions.ts";
import type { RuntimeConfig } from "./contract.ts";

/** The parsed flag. */
export interface ParsedRuntimeConfig extends RuntimeConfig {
  /** Versions that a stage (`api/beta`) would enable, but that have no conversion. */
  readonly warnings: readonly string[];
}

/** From the least to the most specific: later ones override. */
const stages: readonly [key: string, matches: (version: string) => boolean][] = [
  ["api/all", () => true],
  ["api/ga", (version) => /^v\d+$/.test(version)],
  ["api/beta", (version) => /^v\d+beta\d+$/.test(version)],
  ["api/alpha", (version) => /^v\d+alpha\d+$/.test(version)],
];
const stageKeys = new Set(stages.map(([key]) => key));

/**
 * Applies stages first, then versions, then resources: the more specific key wins, in any order.
 *
 * @param text comma-separated `key[=value]` pairs; a key without a value means true
 * @param builtin all versions of all built-in resources
 * @throws Error for an invalid key or value, an unknown version or resource, or one without a
 *   conversion
 */
export function parseRuntimeConfig(text: string, builtin: readonly BuiltinVersion[]): ParsedRuntimeConfig {
  const settings = parsePairs(text);
  checkKeys(settings, builtin);
  const served = new Map(builtin.map((one) => [keyOf(one), one.servedByDefault]));
  const warnings: string[] = [];
  for (const [stage, matches] of stages) {
    const on = settings.get(stage);
    if (on === undefined) continue;
    for (const one of builtin.filter(({ version }) => matches(version))) {
      if (on && !one.convertible)
        warnings.push(`${stage} leaves out ${keyOf(one)}, which cannot be converted to what is stored`);
      else served.set(keyOf(one), on);
    }
  }
  const specific = [...settings]
    .filter(([key]) => !stageKeys.has(key))
    .sort(([a], [b]) => a.split("/").length - b.split("/").length);
  for (const [key, on] of specific) {
    for (const one of builtin.filter((candidate) => matchesKey(candidate, key))) {
      if (on && !one.convertible)
        throw new Error(`${key} cannot be enabled: objects of ${keyOf(one)} cannot be converted to what is stored yet`);
      served.set(keyOf(one), on);
    }
  }
  return { warnings, serves: (group, version, resource) => served.get(keyOf({ group, version, resource })) === true };
}

function parsePairs(text: string): Map<string, boolean> {
  const settings = new Map<string, boolean>();
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const equals = pair.indexOf("=");
    const key = (equals < 0 ? pair : pair.slice(0, equals)).trim();
    const value = equals < 0 ? "" : pair.slice(equals + 1).trim();
    const on = value === "" ? true : parseBool(value);
    if (on === undefined)
      throw new Error(
        `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
      );
    settings.set(key, on);
  }
  return settings;
}

function checkKeys(settings: ReadonlyMap<string, boolean>, builtin: readonly BuiltinVersion[]): void {
  if (settings.size === 1 && settings.get("api/all") === false)
    throw new Error("invalid runtime-config with only api/all=false");
  const groups = new Set(builtin.map(({ group }) => group));
  const versions = new Set(builtin.map(({ group, version }) => `${group}/${version}`));
  const unknown: string[] = [];
  for (const key of settings.keys()) {
    if (stageKeys.has(key)) continue;
    const [group = "", version = "", resource, ...rest] = splitKey(key);
    if (version === "" || rest.length > 0) throw new Error(`runtime-config invalid key ${key}`);
    if (!groups.has(group)) {
      unknown.push(group);
      continue;
    }
    if (!versions.has(`${group}/${version}`)) {
      throw new Error(`group version ${group === "" ? version : `${group}/${version}`} that has not been registered`);
    }
    if (resource !== undefined && resource.toLowerCase() !== resource)
      throw new Error(`invalid key ${key}: group/version/resource and resource is always lowercased, not ${resource}`);
    if (resource !== undefined && !builtin.some((one) => matchesKey(one, key)))
      throw new Error(`unknown resource ${key}`);
  }
  if (unknown.length > 0) throw new Error(`unknown api groups ${unknown.join(",")}`);
}

/** Splits a key into group, version and resource; `api/v1` and `v1` name the core group. */
function splitKey(key: string): string[] {
  const parts = key === "v1" ? ["api", "v1"] : key.split("/");
  return parts[0] === "api" ? ["", ...parts.slice(1)] : parts;
}

function matchesKey(one: BuiltinVersion, key: string): boolean {
  const [group, version, resource] = splitKey(key);
  return one.group === group && one.version === version && (resource === undefined || one.resource === resource);
}

function keyOf({ group, version, resource }: { group: string; version: string; resource: string }): string {
  return `${group === "" ? "api" : group}/${version}/${resource}`;
}
