/**
 * Parses `--runtime-config`, which enables and disables versions and resources. Source: Kubernetes
 * docs, The Kubernetes API, API groups and versioning;
 * `k8s.io/apiserver@v0.36.0/pkg/server/resourceconfig/helpers.go`.
 */

import { parseBool } from "../apimachinery/parse-bool.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { BuiltinVersion } from "./builtin-definitions.ts";
import type { RuntimeConfig } from "./contract.ts";
import { compareVersions } from "./discovery.ts";

/** The parsed flag. */
export interface ParsedRuntimeConfig extends RuntimeConfig {
  /** For the log of the server. */
  readonly warnings: readonly string[];
  /**
   * Whether the flag names a version, or a resource of it, and enables that.
   * @param resource undefined for the version
   */
  enables(group: string, version: string, resource?: string): boolean;
}

/** From the least to the most specific: later ones override. */
const stages: readonly [key: string, matches: (version: string) => boolean][] = [
  ["api/all", () => true],
  ["api/ga", (version) => /^v\d+$/.test(version)],
  ["api/beta", (version) => /^v\d+beta\d+$/.test(version)],
  ["api/alpha", (version) => /^v\d+alpha\d+$/.test(version)],
];
/**
 * Versions whose types upstream still registers, without a resource: switching them has no effect.
 * Source: the packages `install` in k8s.io/kubernetes@v1.36.0/pkg/apis.
 */
const versionsWithoutResources = [
  "admission.k8s.io/v1",
  "admission.k8s.io/v1beta1",
  "apiextensions.k8s.io/v1beta1",
  "apiregistration.k8s.io/v1beta1",
  "apps/v1beta1",
  "apps/v1beta2",
  "authentication.k8s.io/v1alpha1",
  "authentication.k8s.io/v1beta1",
  "authorization.k8s.io/v1beta1",
  "batch/v1beta1",
  "discovery.k8s.io/v1beta1",
  "events.k8s.io/v1beta1",
  "extensions/v1beta1",
  "flowcontrol.apiserver.k8s.io/v1beta1",
  "flowcontrol.apiserver.k8s.io/v1beta2",
  "flowcontrol.apiserver.k8s.io/v1beta3",
  "imagepolicy.k8s.io/v1alpha1",
  "node.k8s.io/v1alpha1",
  "node.k8s.io/v1beta1",
  "policy/v1beta1",
  "rbac.authorization.k8s.io/v1alpha1",
  "rbac.authorization.k8s.io/v1beta1",
  "scheduling.k8s.io/v1beta1",
  "storage.k8s.io/v1alpha1",
];

const stageKeys = new Set(stages.map(([key]) => key));

interface ParseOptions {
  /** Whether an enabled version that is not alpha enables the later versions of its group: `--emulation-forward-compatible`. */
  readonly forward?: boolean;
}

/**
 * Applies stages first, then versions, then resources: the more specific key wins, in any order.
 *
 * @param text comma-separated `key[=value]` pairs; a key without a value means true, except that of a stage
 * @param builtin all versions of all built-in resources
 * @throws Error for an invalid key or value, or an unknown version; an unknown resource has no effect
 */
export function parseRuntimeConfig(
  text: string,
  builtin: readonly BuiltinVersion[],
  { forward = false }: ParseOptions = {},
): ParsedRuntimeConfig {
  const settings = parsePairs(text);
  checkKeys(settings, builtin);
  const switches = openSwitches(builtin);
  for (const [stage, matches] of stages)
    if (settings.has(stage)) switches.setStage(matches, settings.get(stage) === "true");
  const specific = specificSwitches(settings);
  switches.setAll(specific);
  if (forward) {
    switches.enableLaterVersions();
    switches.setAll(specific);
  }
  return {
    warnings: [],
    serves: (group, version, resource) => switches.serves(keyOf(group, version), keyOf(group, version, resource)),
    enables: (group, version, resource) => specific.get(keyOf(group, version, resource)) === true,
  };
}

/** @returns what versions and resources are set to, by their keys; versions precede resources */
function specificSwitches(settings: ReadonlyMap<string, string>): ReadonlyMap<string, boolean> {
  const switches = [...settings].flatMap(([key, value]): [readonly string[], boolean][] =>
    stageKeys.has(key) ? [] : [[splitKey(key), parseSwitch(value) === true]],
  );
  const ordered = switches.sort(([a], [b]) => a.length - b.length);
  return new Map(ordered.map(([[group = "", version = "", resource], on]) => [keyOf(group, version, resource), on]));
}

/** Which versions are on, and which of their resources differ from them. Source: `ResourceConfig` in storage/resource_config.go. */
function openSwitches(builtin: readonly BuiltinVersion[]) {
  const resources = new Set(builtin.map((one) => keyOf(one.group, one.version, one.resource)));
  const versions = new Map(builtin.map((one) => [keyOf(one.group, one.version), one]));
  const versionOn = new Map([...versions].map(([key, { servedByDefault }]) => [key, servedByDefault]));
  const resourceOn = new Map<string, boolean>();
  const setVersion = (key: string, on: boolean): void => {
    versionOn.set(key, on);
    for (const resource of resourceOn.keys()) if (resource.startsWith(`${key}/`)) resourceOn.delete(resource);
  };
  const laterThan = (one: { readonly group: string; readonly version: string }) =>
    [...versions.values()].filter(
      ({ group, version }) => group === one.group && compareVersions(version, one.version) < 0,
    );
  return {
    serves: (version: string, resource: string) =>
      resources.has(resource) && (resourceOn.get(resource) ?? versionOn.get(version) === true),
    setStage(matches: (version: string) => boolean, on: boolean): void {
      for (const [key, { version }] of versions) if (matches(version)) setVersion(key, on);
    },
    setAll(specific: ReadonlyMap<string, boolean>): void {
      for (const [key, on] of specific) {
        if (key.split("/").length === 2) setVersion(key, on);
        else resourceOn.set(key, on);
      }
    },
    enableLaterVersions(): void {
      const isOn = new Map([...versionOn, ...resourceOn]);
      for (const one of builtin.filter(({ version }) => !version.includes("alpha"))) {
        if (isOn.get(keyOf(one.group, one.version)) === true)
          for (const later of laterThan(one)) setVersion(keyOf(later.group, later.version), true);
      }
      for (const one of builtin.filter(({ version }) => !version.includes("alpha"))) {
        if (isOn.get(keyOf(one.group, one.version, one.resource)) === true)
          for (const later of laterThan(one)) resourceOn.set(keyOf(later.group, later.version, one.resource), true);
      }
    },
  };
}

function parsePairs(text: string): Map<string, string> {
  const settings = new Map<string, string>();
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const equals = pair.indexOf("=");
    const key = (equals < 0 ? pair : pair.slice(0, equals)).trim();
    if (key !== "api/legacy") settings.set(key, equals < 0 ? "" : pair.slice(equals + 1).trim()); // Without effect.
  }
  return settings;
}

function checkKeys(settings: ReadonlyMap<string, string>, builtin: readonly BuiltinVersion[]): void {
  if (settings.size === 1 && settings.get("api/all") === "false")
    throw new Error("invalid runtime-config with only api/all=false");
  const versions = new Set([
    ...builtin.map(({ group, version }) => `${group}/${version}`),
    ...versionsWithoutResources,
  ]);
  const groups = new Set([...versions].map((one) => one.split("/")[0]));
  const specific = [...settings].filter(([key]) => !stageKeys.has(key));
  for (const [key] of specific) {
    const { length } = splitKey(key);
    if (length < 2 || length > 3) throw new Error(`runtime-config invalid key ${key}`);
  }
  const unknown = specific.map(([key]) => splitKey(key).slice(0, 2)).filter(([group]) => !groups.has(group));
  if (unknown.length > 0)
    throw new Error(`unknown api groups ${[...new Set(unknown.map((parts) => parts.join("/")))].sort().join(",")}`);
  for (const key of stageKeys) {
    const value = settings.get(key) ?? "true";
    if (value !== "true" && value !== "false") throw new Error(`invalid value ${key}=${value}`);
  }
  for (const [key, value] of specific) checkKey(key, value, versions);
}

function checkKey(key: string, value: string, versions: ReadonlySet<string>): void {
  const [group, version, resource = ""] = splitKey(key);
  if (!versions.has(`${group}/${version}`))
    throw new Error(`group version ${group === "" ? version : `${group}/${version}`} that has not been registered`);
  if (parseSwitch(value) === undefined)
    throw new Error(
      `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${quoteGo(value)}: invalid syntax`,
    );
  if (resource.toLowerCase() !== resource)
    throw new Error(
      `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${quoteGo(resource)}`,
    );
}

/** @returns undefined for other text */
function parseSwitch(value: string): boolean | undefined {
  return value === "" ? true : parseBool(value);
}

/** Splits a key into group, version and resource; `api/v1` and `v1` name the core group. */
function splitKey(key: string): string[] {
  return key.replace(/^(?:api\/)?v1(?=\/|$)/, "/v1").split("/");
}

/** @param resource undefined for the version itself */
function keyOf(group: string, version: string, resource?: string): string {
  return `${group}/${version}${resource === undefined ? "" : `/${resource}`}`;
}
