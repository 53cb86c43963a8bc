/**
 * IP families of services. They are determined before addresses are allocated.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/alloc.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";
import { familyOf, validateClusterIps } from "./cluster-ips.ts";
import { clusterIps, ipFamilies, needsAddress, noAddress, sameTexts } from "./service-fields.ts";

type Family = "IPv4" | "IPv6";

/** IP configuration of the cluster. */
export interface FamilyRules {
  /** Families that have a service CIDR; the first is the default. */
  readonly families: readonly Family[];
  /** Feature gate `StrictIPCIDRValidation`. */
  readonly strict: boolean;
}

const policyPath = "spec.ipFamilyPolicy";

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` of a service.
 *
 * @param errors receives problems; if there are any, the caller reports only these
 */
export function setIpFamilies(spec: Part, old: Part | undefined, rules: FamilyRules, errors: FieldErrors): void {
  if (!needsAddress(spec) || (old !== undefined && keepsDualStackPreference(spec, old))) return;
  const isHeadlessWithoutSelector = spec.clusterIP === noAddress && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isHeadlessWithoutSelector ? "RequireDualStack" : "SingleStack");
  validateClusterIps(spec, old, rules.strict, errors);
  if (!errors.empty) return;
  if (old !== undefined) applyPolicyChange(spec, old, errors);
  checkPolicy(spec, errors);
  inferFamilies(spec, rules, errors);
  if (!errors.empty) return;
  if (!isHeadlessWithoutSelector) checkConfigured(spec, rules, errors);
  if (!errors.empty) return;
  if (ipFamilies(spec).length === 0) spec.ipFamilies = [rules.families[0]];
  // A headless service without a selector may have a family that the cluster does not have.
  if (
    spec.ipFamilyPolicy !== "SingleStack" &&
    ipFamilies(spec).length === 1 &&
    (isHeadlessWithoutSelector || rules.families.length === 2)
  ) {
    spec.ipFamilies = [spec.ipFamilies[0], spec.ipFamilies[0] === "IPv4" ? "IPv6" : "IPv4"];
  }
}

/** A service that stays PreferDualStack keeps its families when those of the cluster change. */
export function keepsDualStackPreference(spec: Part, old: Part): boolean {
  const prefers = ({ ipFamilyPolicy }: Part): boolean => ipFamilyPolicy === "PreferDualStack";
  return (
    spec.type === old.type &&
    ["ClusterIP", "NodePort", "LoadBalancer"].includes(spec.type) &&
    prefers(spec) &&
    prefers(old) &&
    sameTexts(clusterIps(spec), clusterIps(old)) &&
    sameTexts(ipFamilies(spec), ipFamilies(old))
  );
}

/** SingleStack releases the second address and family; the other policies must keep them. */
function applyPolicyChange(spec: Part, old: Part, errors: FieldErrors): void {
  const policy = spec.ipFamilyPolicy;
  if (policy === "SingleStack") {
    if (sameTexts(clusterIps(spec), clusterIps(old)) && clusterIps(spec).length > 1)
      spec.clusterIPs = clusterIps(spec).slice(0, 1);
    if (sameTexts(ipFamilies(spec), ipFamilies(old)) && ipFamilies(spec).length > 1)
      spec.ipFamilies = ipFamilies(spec).slice(0, 1);
    return;
  }
  const isReduced = (now: readonly string[], before: readonly string[]): boolean =>
    now.length > 0 && now.length < before.length;
  if (isReduced(clusterIps(spec), clusterIps(old)))
    errors.invalid(policyPath, policy, "must be 'SingleStack' to release the secondary cluster IP");
  if (isReduced(ipFamilies(spec), ipFamilies(old)))
    errors.invalid(policyPath, policy, "must be 'SingleStack' to release the secondary IP family");
}

function checkPolicy(spec: Part, errors: FieldErrors): void {
  if (spec.ipFamilyPolicy !== "SingleStack") return;
  const why = (what: string): string =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  if (clusterIps(spec).length === 2) errors.invalid(policyPath, spec.ipFamilyPolicy, why("cluster IPs"));
  if (ipFamilies(spec).length === 2) errors.invalid(policyPath, spec.ipFamilyPolicy, why("IP families"));
}

/** Derives families from the requested cluster IPs. */
function inferFamilies(spec: Part, { families }: FamilyRules, errors: FieldErrors): void {
  for (const [index, address] of clusterIps(spec).entries()) {
    if (address === noAddress) break;
    if (index < ipFamilies(spec).length) continue;
    const family = familyOf(address) as Family;
    if (families.includes(family)) spec.ipFamilies = [...ipFamilies(spec), family];
    else errors.invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, `${family} is not configured on this cluster`);
  }
}

function checkConfigured(spec: Part, { families }: FamilyRules, errors: FieldErrors): void {
  if (spec.ipFamilyPolicy === "RequireDualStack" && families.length < 2) {
    errors.invalid(policyPath, spec.ipFamilyPolicy, "this cluster is not configured for dual-stack services");
  }
  for (const [index, family] of ipFamilies(spec).entries()) {
    if (!families.includes(family as Family))
      errors.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster");
  }
}
