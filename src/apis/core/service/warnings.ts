/**
 * Warnings for services.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/service/warnings.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { warnOfIp, warnOfPrefix } from "../../../apimachinery/validation/ip.ts";
import { items, type Part } from "../../fields.ts";
import { clusterIps, hintsAnnotation, modeAnnotation, noAddress } from "./service-fields.ts";

export function serviceWarnings({ metadata, spec }: KubeObject): string[] {
  const warnings: string[] = [];
  if (Object.hasOwn(metadata.annotations ?? {}, hintsAnnotation)) {
    warnings.push(`annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`);
  }
  warnOfAddresses(spec, warnings);
  if (spec.type === "ExternalName" && externalIps(spec).length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (spec.type !== "ExternalName" && (spec.externalName ?? "") !== "") {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === "PreferClose")
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

const externalIps = (spec: Part): readonly string[] => spec.externalIPs ?? [];

function warnOfAddresses(spec: Part, warnings: string[]): void {
  const { type, clusterIP = "", loadBalancerIP = "", sessionAffinity } = spec;
  const headless = type === "ClusterIP" && clusterIP === noAddress;
  if (clusterIP !== "" && clusterIP !== noAddress) warnOfEach(clusterIps(spec), "spec.clusterIPs", warnings);
  if (headless) {
    if (loadBalancerIP !== "") warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIps(spec).length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  warnOfEach(externalIps(spec), "spec.externalIPs", warnings);
  if (externalIps(spec).length > 0 && !headless && type !== "ExternalName") {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (loadBalancerIP !== "") warnOfIp(loadBalancerIP, "spec.loadBalancerIP", warnings);
  for (const [index, range] of ((spec.loadBalancerSourceRanges ?? []) as string[]).entries()) {
    warnOfPrefix(range, `spec.loadBalancerSourceRanges[${index}]`, warnings);
  }
}

function warnOfEach(addresses: readonly string[], path: string, warnings: string[]): void {
  for (const [index, address] of addresses.entries()) warnOfIp(address, `${path}[${index}]`, warnings);
}

/** Warnings for a load balancer status. */
export function loadBalancerWarnings(loadBalancer: Part | undefined): string[] {
  const warnings: string[] = [];
  for (const [index, { ip = "" }] of items(loadBalancer?.ingress).entries()) {
    if (ip !== "") warnOfIp(ip, `status.loadBalancer.ingress[${index}]`, warnings);
  }
  return warnings;
}
