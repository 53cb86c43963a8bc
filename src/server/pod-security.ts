/** Opens the plugin PodSecurity with its metrics. */
import type { AdmissionPlugin } from "../admission/contract.ts";
import { podSecurity } from "../admission/plugins/pod-security/pod-security.ts";
import { apiRelease } from "../apimachinery/release.ts";
import type { Catalog } from "../catalog/contract.ts";
import { podSecurityMetrics } from "../metrics/pod-security-metrics.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { Settings } from "./settings.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly metrics: Pick<ServerMetrics, "add">;
}

/** @returns nothing if the plugin does not run */
export function openPodSecurity(
  { clock }: Pick<ServerOptions, "clock">,
  { admissionPlugins, admissionConfigurations }: Settings,
  { catalog, metrics }: Needs,
): AdmissionPlugin[] {
  if (!admissionPlugins.has("PodSecurity")) return [];
  const observer = podSecurityMetrics(Number(apiRelease.minor));
  metrics.add(observer.collect);
  return [podSecurity({ catalog, clock, configuration: admissionConfigurations.PodSecurity, observer })];
}
