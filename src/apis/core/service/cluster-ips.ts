/** Rules for the cluster addresses of services and their families. Source: kubernetes pkg/apis/core/validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { parseIp } from "../../../lib/ip-range/ip-address.ts";
import type { Part } from "../../fields.ts";
import { clusterIps, ipFamilies, isHeadless, needsAddress, noAddress } from "./forms.ts";

export const families = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

const path = "spec.clusterIPs";

/** As upstream prints it: a list that is not there is null. */
const shown = (spec: Part): unknown => spec.clusterIPs ?? null;
const shownPolicy = (spec: Part): unknown => spec.ipFamilyPolicy ?? null;
const shownFamilies = (spec: Part): unknown => spec.ipFamilies ?? null;

/** @param old undefined where there was none before @param strict gate `StrictIPCIDRValidation` */
export function validateClusterIps(spec: Part, old: Part | undefined, strict: boolean, errors: FieldErrors): void {
  if (!needsAddress(spec)) return;
  const addresses = clusterIps(spec);
  checkInStep(spec, errors);
  checkFamilies(spec, errors);
  let isSound = true;
  for (const [index, address] of addresses.entries()) {
    if (index === 0 && address === noAddress) {
      if (addresses.length === 1) continue;
      isSound = false;
      errors.invalid(path, addresses, "'None' must be the first and only value");
    } else if (!validateLegacyIp(address, `${path}[${index}]`, { strict, old: old && clusterIps(old) }, errors))
      isSound = false;
  }
  if (addresses.length > 2) errors.invalid(path, addresses, "may only hold up to 2 values");
  if (!isSound) return;
  if (addresses.length > 1 && new Set(addresses.map(familyOf)).size < 2) {
    errors.invalid(path, addresses, "may specify no more than one IP for each IP family");
  }
  if (!isHeadless(spec)) checkMatch(spec, errors);
}

export const familyOf = (address: string): string | undefined => parseIp(address)?.family;

/** `clusterIP` and the first of `clusterIPs` are the same. */
function checkInStep(spec: Part, errors: FieldErrors): void {
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
    if (seen.has(family)) errors.duplicate(at, family);
    seen.add(family);
  }
  const policy = spec.ipFamilyPolicy ?? undefined;
  if (policy !== undefined && !policies.includes(policy)) errors.notSupported("spec.ipFamilyPolicy", policy, policies);
}

function checkMatch(spec: Part, errors: FieldErrors): void {
  for (const [index, address] of clusterIps(spec).entries()) {
    const wanted = ipFamilies(spec)[index];
    if (!families.includes(wanted ?? "")) continue;
    const why = `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``;
    if (familyOf(address) !== wanted) errors.invalid(`${path}[${index}]`, address, why);
  }
}

/** The first address stays; a second may come, and goes where the policy says so. */
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

/** So do families; a headless service may change them. */
export function validateFamiliesUpdate(next: Part, old: Part, errors: FieldErrors): void {
  if (!needsAddress(next) || !needsAddress(old) || isHeadless(next) || isHeadless(old)) return;
  const now = ipFamilies(next);
  const before = ipFamilies(old);
  const changed = (value: unknown): void => errors.invalid("spec.ipFamilies[0]", value, "may not change once set");
  if (now.length === before.length) {
    for (const [index, family] of before.entries()) if (now[index] !== family) changed(shownFamilies(next));
    return;
  }
  const isLess = now.length < before.length;
  if (isLess && clusterIps(next).length === 0)
    errors.invalid("spec.ipFamilies[0]", shownFamilies(next), "primary ipFamily can not be unset");
  // Upstream shows the addresses here.
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) changed(shown(next));
  if (isLess && now.length === 1 && next.ipFamilyPolicy !== "SingleStack") {
    errors.invalid(
      "spec.ipFamilyPolicy",
      shownPolicy(next),
      "must be set to 'SingleStack' when releasing the secondary ipFamily",
    );
  }
}
