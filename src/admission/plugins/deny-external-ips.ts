/**
 * The plugin DenyServiceExternalIPs rejects external addresses that a service does not have yet,
 * because they can take over traffic to other hosts (CVE-2020-8554).
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/network/denyserviceexternalips/admission.go.
 */
import type { AdmissionPlugin } from "../contract.ts";
import { rejection } from "../rejection.ts";

/** @returns the plugin DenyServiceExternalIPs */
export function denyServiceExternalIps(): AdmissionPlugin {
  return {
    name: "DenyServiceExternalIPs",
    validate(attributes) {
      const { operation, target, subresource, object, oldObject } = attributes;
      const { group, resource } = target.resource.definition;
      if (resource !== "services" || group !== "" || subresource !== "") return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      const existing = new Set<string>(oldObject?.spec?.externalIPs ?? []);
      const addresses: readonly string[] = object?.spec?.externalIPs ?? [];
      if (addresses.some((address) => !existing.has(address)))
        throw rejection(attributes, "Use of external IPs is denied by admission control");
    },
  };
}
