/**
 * Validation of the cluster IPs and IP families of services.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { parseIp } from "../../../lib/ip-range/ip-address.ts";
import type { Part } from "../../fields.ts";
import { clusterIps, ipFamilies, isHeadless, needsAddress, noAddress } from "./service-fields.ts";

const families = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

const path = "spec.clusterIPs";

/** Error messages print an absent value as null, like upstream. */
const shown = (spec: Part): unknown => spec.clusterIPs ?? null;
const shownPolicy = (spec: Part): unknown => typedText(spec.ipFamilyPolicy);
const shownFamilies = (spec: Part): unknown => spec.ipFamilies ?? null;

/**
 * Checks the cluster IPs, the families, and that each address is of the family at its index.
 *
 * @param old the stored spec, undefined on create; its addresses are exempt from strict parsing
 * @param strict feature gate `StrictIPCIDRValidation`
 */
export function validateClusterIps(spec: Part, old: Part | undefined, strict: boolean, errors: FieldErrors): void {
  if (!needsAddress(spec)) return;
  const addresses = clusterIps(spec);
  checkFirstClusterIp(spec, errors);
  checkFamilies(spec, errors);
  let isValid = true;
  for (const [index, address] of addresses.entries()) {
    if (index === 0 && address === noAddress) {
      if (addresses.length === 1) continue;
      isValid = false;
      errors.invalid(path, addresses, "'None' must be the first and only value");
    } else if (!validateLegacyIp(address, `${path}[${index}]`, { strict, old: old && clusterIps(old) }, errors))
      isValid = false;
  }
  if (addresses.length > 2) errors.invalid(path, addresses, "may only hold up to 2 values");
  if (!isValid) return;
  if (addresses.length > 1 && new Set(addresses.map(familyOf)).size < 2) {
    errors.invalid(path, addresses, "may specify no more than one IP for each IP family");
  }
  if (!isHeadless(spec)) checkFamiliesMatch(spec, errors);
}

/** @returns undefined if the text is not an IP address */
export const familyOf = (address: string): string | undefined => parseIp(address)?.family;

/** `clusterIP` must equal the first of `clusterIPs`. */
function checkFirstClusterIp(spec: Part, errors: FieldErrors): void {
  const { clusterIP = "" } = spec;
  const [first] = clusterIps(spec);
  if (clusterIP === "") {
    if (first !== undefined) errors.invalid(path, shown(spec), "must be empty when `clusterIP` is not specified");
  } else if (first === undefined) errors.required(path);
  else if (first !== clusterIP) errors.invalid(path, shown(spec), "first value must match `clusterIP`");
}

function checkFamilies(spec: Part, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, family] of ipFamilies(spec).entries()) {
    const at = `spec.ipFamilies[${index}]`;
    if (!families.includes(family)) errors.notSupported(at, family, families);
    if (seen.has(family)) errors.duplicate(at, typedText(family));
    seen.add(family);
  }
  const policy = spec.ipFamilyPolicy ?? undefined;
  if (policy !== undefined && !policies.includes(policy)) errors.notSupported("spec.ipFamilyPolicy", policy, policies);
}

function checkFamiliesMatch(spec: Part, errors: FieldErrors): void {
  for (const [index, address] of clusterIps(spec).entries()) {
    const expected = ipFamilies(spec)[index];
    if (!families.includes(expected ?? "")) continue;
    const why = `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``;
    if (familyOf(address) !== expected) errors.invalid(`${path}[${index}]`, address, why);
  }
}

/** The first cluster IP is immutable. A second one can be added, and removed by SingleStack. */
export function validateClusterIpsUpdate(next: Part, old: Part, errors: FieldErrors): void {
  if (!needsAddress(next) || !needsAddress(old) || (isHeadless(next) && isHeadless(old))) return;
  const now = clusterIps(next);
  const before = clusterIps(old);
  const changed = (index: number): void => errors.invalid(`${path}[${index}]`, shown(next), "may not change once set");
  if (now.length === before.length) {
    for (const [index, address] of before.entries()) if (now[index] !== address) changed(index);
    return;
  }
  if (now.length === 0) return errors.invalid(`${path}[0]`, shown(next), "primary clusterIP can not be unset");
  if (before.length > 0 && now[0] !== before[0]) changed(0);
  if (now.length < before.length && now.length === 1 && next.ipFamilyPolicy !== "SingleStack") {
    errors.invalid(
      "spec.ipFamilyPolicy",
      shownPolicy(next),
      "must be set to 'SingleStack' when releasing the secondary clusterIP",
    );
  }
}

/** The same rules for IP families, except that a headless service may change them. */
export function validateFamiliesUpdate(next: Part, old: Part, errors: FieldErrors): void {
  if (!needsAddress(next) || !needsAddress(old) || isHeadless(next) || isHeadless(old)) return;
  const now = ipFamilies(next);
  const before = ipFamilies(old);
  const changed = (value: unknown): void => errors.invalid("spec.ipFamilies[0]", value, "may not change once set");
  if (now.length === before.length) {
    for (const [index, family] of before.entries()) if (now[index] !== family) changed(shownFamilies(next));
    return;
  }
  const isReduced = now.length < before.length;
  if (isReduced && clusterIps(next).length === 0)
    errors.invalid("spec.ipFamilies[0]", shownFamilies(next), "primary ipFamily can not be unset");
  // Upstream prints the cluster IPs in this message.
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) changed(shown(next));
  if (isReduced && now.length === 1 && next.ipFamilyPolicy !== "SingleStack") {
    errors.invalid(
      "spec.ipFamilyPolicy",
      shownPolicy(next),
      "must be set to 'SingleStack' when releasing the secondary ipFamily",
    );
  }
}
