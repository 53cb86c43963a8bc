/**
 * Resources that need a feature gate in addition to `--runtime-config`. Source: the storage providers
 * of k8s.io/kubernetes@v1.36.0/pkg/registry (`certificates/rest`, `scheduling/rest`,
 * `storagemigration/rest`).
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { BuiltinVersion } from "./builtin-definitions.ts";
import type { ParsedRuntimeConfig } from "./runtime-config.ts";

/** The gates by `group/resource`. */
const gateOf: ReadonlyMap<string, string> = new Map([
  ["certificates.k8s.io/clustertrustbundles", "ClusterTrustBundle"],
  ["certificates.k8s.io/podcertificaterequests", "PodCertificateRequest"],
  ["scheduling.k8s.io/podgroups", "GenericWorkload"],
  ["scheduling.k8s.io/workloads", "GenericWorkload"],
  ["storagemigration.k8s.io/storageversionmigrations", "StorageVersionMigrator"],
]);

/**
 * Leaves out resources whose gate is disabled, with a warning for each that the configuration serves.
 *
 * @param builtin all versions of all built-in resources
 */
export function withoutGatedResources(
  { serves, warnings, ...config }: ParsedRuntimeConfig,
  builtin: readonly BuiltinVersion[],
  gates: FeatureGates,
): ParsedRuntimeConfig {
  const disabledGate = (group: string, resource: string): string | undefined => {
    const gate = gateOf.get(`${group}/${resource}`);
    return gate === undefined || gates.enabled(gate) ? undefined : gate;
  };
  const leftOut = builtin.flatMap(({ group, version, resource }) => {
    const gate = disabledGate(group, resource);
    if (gate === undefined || !serves(group, version, resource)) return [];
    return [`${group}/${version}/${resource} is not served, because the feature gate ${gate} is disabled`];
  });
  return {
    ...config,
    warnings: [...warnings, ...leftOut],
    serves: (group, version, resource) =>
      serves(group, version, resource) && disabledGate(group, resource) === undefined,
  };
}
