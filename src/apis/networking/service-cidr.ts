/**
 * ServiceCIDR: a range of service addresses.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/networking/servicecidr`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validatePrefix } from "../../apimachinery/validation/ip.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, Strategy } from "../../catalog/strategy-contract.ts";
import { networkOf, parsePrefix } from "../../lib/ip-range/ip-address.ts";
import { text } from "../column.ts";
import { keepMetaForStatus } from "../fields.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const serviceCidrColumns: readonly Column[] = [
  nameColumn,
  text(
    "CIDRs",
    'CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.',
    ({ spec }) => (spec?.cidrs ?? []).join(","),
  ),
  ageColumn,
];

const path = "spec.cidrs";

/** @param isolatesStatus whether only its subresource changes the status: the gate ServiceCIDRStatusFieldWiping */
export const serviceCidrWith = (isolatesStatus: boolean): Strategy =>
  strategy({
    columns: serviceCidrColumns,
    isolatesStatus,
    validate: (object, errors) => validateCidrs(cidrsOf(object), errors),
    validateUpdate(next, old, errors) {
      const [cidrs, before] = [cidrsOf(next), cidrsOf(old)];
      const isExtension = before.length === 1 && cidrs.length === 2;
      if (cidrs.length !== before.length && !isExtension)
        return errors.invalid(path, next.spec?.cidrs ?? null, "field is immutable");
      for (const [index, cidr] of before.entries()) {
        if (cidrs[index] !== cidr) errors.invalid(`${path}[${index}]`, cidrs[index], "field is immutable");
      }
      if (isExtension) validateCidrs(cidrs, errors);
    },
    prepareForStatusUpdate: keepMetaForStatus,
  });

/** The strategy of ServiceCIDR. */
export const serviceCidr = serviceCidrWith(true);

const cidrsOf = (object: KubeObject): readonly string[] => object.spec?.cidrs ?? [];

function validateCidrs(cidrs: readonly string[], errors: FieldErrors): void {
  if (cidrs.length === 0) return errors.required(path, "at least one CIDR required");
  if (cidrs.length > 2) return errors.invalid(path, { CIDRs: cidrs }, "may only hold up to 2 values");
  for (const [index, cidr] of cidrs.entries()) validatePrefix(cidr, `${path}[${index}]`, errors);
  const [first, second] = cidrs.map(familyOf);
  if (first === undefined || first !== second) return;
  errors.invalid(
    path,
    cidrs,
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
  );
}

function familyOf(cidr: string): string | undefined {
  const prefix = parsePrefix(cidr);
  return prefix && networkOf(prefix).family;
}
