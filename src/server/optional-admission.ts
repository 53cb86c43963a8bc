/** Builds the admission plugins that are off by default. Loaded only when a flag enables one of them. */
import type { AdmissionPlugin } from "../admission/contract.ts";
import type { Matching } from "../admission/matching/matcher.ts";
import { alwaysAdmit, alwaysDeny } from "../admission/plugins/always-admit.ts";
import { alwaysPullImages } from "../admission/plugins/always-pull-images.ts";
import { antiAffinityTopology } from "../admission/plugins/anti-affinity-topology.ts";
import { denyServiceExternalIps } from "../admission/plugins/deny-external-ips.ts";
import { extendedResourceToleration } from "../admission/plugins/extended-resource-toleration.ts";
import { namespaceAutoProvision } from "../admission/plugins/namespace-auto-provision.ts";
import { namespaceExists } from "../admission/plugins/namespace-exists.ts";
import { ownerReferencesPermissionEnforcement } from "../admission/plugins/owner-references/owner-references.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { ServerOptions } from "../options.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { Settings } from "./settings.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly authorization: Pick<ServerAuthorization, "authorize">;
  readonly matching: Matching;
  readonly registry: () => RegistryContext;
}

/** @returns the plugins that flags enable, in any order */
export function optionalPlugins(
  { logger }: ServerOptions,
  { admissionPlugins }: Settings,
  { catalog, authorization, matching, registry }: Needs,
): AdmissionPlugin[] {
  const { authorize } = authorization;
  const { namespaces } = matching;
  const builders: Readonly<Record<string, () => AdmissionPlugin>> = {
    AlwaysAdmit: () => alwaysAdmit(logger),
    AlwaysDeny: () => alwaysDeny(logger),
    AlwaysPullImages: alwaysPullImages,
    DenyServiceExternalIPs: denyServiceExternalIps,
    ExtendedResourceToleration: extendedResourceToleration,
    LimitPodHardAntiAffinityTopology: antiAffinityTopology,
    NamespaceAutoProvision: () => namespaceAutoProvision({ namespaces, registry }),
    NamespaceExists: () => namespaceExists(namespaces),
    OwnerReferencesPermissionEnforcement: () => ownerReferencesPermissionEnforcement({ catalog, authorize }),
  };
  return Object.entries(builders).flatMap(([name, build]) => (admissionPlugins.has(name) ? [build()] : []));
}
