/**
 * Which resources an emulated release has. Source: `RemoveUnavailableKinds` in
 * k8s.io/apiserver@v0.36.0/pkg/server/deleted_kinds.go.
 */
import {
  binaryMinor,
  type EffectiveVersion,
  formatRelease,
  type VersionOptions,
} from "../apimachinery/effective-version.ts";
import type { BuiltinVersion } from "./builtin-definitions.ts";
import { compareVersions } from "./discovery.ts";
import type { ParsedRuntimeConfig } from "./runtime-config.ts";

type Emulation = Pick<EffectiveVersion, "emulated"> &
  Pick<VersionOptions, "emulationForwardCompatible" | "runtimeConfigEmulationForwardCompatible">;

/**
 * Leaves out resources that the emulated release has removed, or does not have yet.
 *
 * @param config which resources are enabled, and have no disabled gate
 * @param builtin all versions of all built-in resources
 * @throws Error when the configuration enables a version or a resource that is introduced later, without
 *   `--runtime-config-emulation-forward-compatible`
 */
export function emulatedResources(
  config: ParsedRuntimeConfig,
  builtin: readonly BuiltinVersion[],
  emulation: Emulation,
): ParsedRuntimeConfig {
  const { emulated } = emulation;
  const existing = builtin.filter(
    ({ group, version, resource, removed }) =>
      config.serves(group, version, resource) && (removed === undefined || removed > emulated),
  );
  const served = new Set(introducedResources(existing, config, emulation).map(keyOf));
  checkVersions(existing, served, config, emulated);
  return {
    ...config,
    warnings: [...config.warnings, ...alphaWarnings(builtin, config, emulated)],
    serves: (group, version, resource) => served.has(keyOf({ group, version, resource })),
  };
}

function introducedResources(
  existing: readonly BuiltinVersion[],
  config: ParsedRuntimeConfig,
  emulation: Emulation,
): readonly BuiltinVersion[] {
  const { emulated, emulationForwardCompatible: forward, runtimeConfigEmulationForwardCompatible } = emulation;
  /** Resources of which a less preferred version is served; alpha versions do not count. */
  const servedBefore = new Set<string>();
  const isServed = ({ group, version, resource, introduced = 0 }: BuiltinVersion): boolean => {
    if (introduced <= emulated || (forward && servedBefore.has(`${group}/${resource}`))) return true;
    const enabled = config.enables(group, version, resource);
    if (runtimeConfigEmulationForwardCompatible) return enabled || config.enables(group, version);
    if (!enabled) return false;
    const name = `${group}/${version}, Resource=${resource}`;
    const when = `it is introduced at ${formatRelease(introduced)} after the current version ${formatRelease(emulated)}`;
    throw new Error(`cannot enable resource ${name} in runtime-config because ${when}. ${hint}`);
  };
  return existing
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .filter((one) => {
      if (!isServed(one)) return false;
      if (!one.version.includes("alpha")) servedBefore.add(`${one.group}/${one.resource}`);
      return true;
    });
}

const hint = "Consider setting --runtime-config-emulation-forward-compatible=true";

/** @throws Error when a version is enabled, of which no resource is left */
function checkVersions(
  existing: readonly BuiltinVersion[],
  served: ReadonlySet<string>,
  config: ParsedRuntimeConfig,
  emulated: number,
): void {
  for (const [groupVersion, resources] of Map.groupBy(existing, ({ group, version }) => `${group}/${version}`)) {
    const [group = "", version = ""] = groupVersion.split("/");
    if (!config.enables(group, version) || resources.some((one) => served.has(keyOf(one)))) continue;
    const why = `all the resources have been introduced after the current version ${formatRelease(emulated)}`;
    throw new Error(`cannot enable version ${groupVersion} in runtime-config because ${why}. ${hint}`);
  }
}

/** Source: `ApplyTo` in k8s.io/apiserver@v0.36.0/pkg/server/options/api_enablement.go. */
function alphaWarnings(builtin: readonly BuiltinVersion[], config: ParsedRuntimeConfig, emulated: number): string[] {
  if (emulated === binaryMinor) return [];
  const enabled = builtin.filter(
    ({ group, version, resource }) =>
      version.includes("alpha") && (config.enables(group, version) || config.enables(group, version, resource)),
  );
  const instead = `${formatRelease(emulated)} instead of the binary's version ${formatRelease(binaryMinor)}.0`;
  return [...new Set(enabled.map(({ group, version }) => `${group}/${version}`))].map(
    (api) =>
      `alpha api enabled with emulated version ${instead}, this is unsupported, proceed at your own risk: api=${api}`,
  );
}

function keyOf({ group, version, resource }: Pick<BuiltinVersion, "group" | "version" | "resource">): string {
  return `${group}/${version}/${resource}`;
}
