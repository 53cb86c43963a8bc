/** Reports to an explanation what a write needs of a quota, and what is left. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../../lib/quantity/quantity.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionTrace } from "../../../request/admission-trace.ts";
import { leftOf } from "../../quota/amounts.ts";
import type { Charge } from "../../quota/check-write.ts";

/** Adds one step for the quota. */
export function addQuotaStep(
  { namespace }: AdmissionAttributes,
  trace: AdmissionTrace,
  { quota: { limits, used }, amounts }: Charge,
): void {
  const rows = [...amounts].flatMap(([name, amount]) => {
    const hard = limits.hard.get(name);
    return hard === undefined ? [] : [rowOf(name, amount, hard, parseQuantity(used?.[name] ?? "0"))];
  });
  trace.add({
    plugin: "ResourceQuota",
    phase: "validating",
    part: limits.name,
    objects: [{ group: "", version: "v1", resource: "resourcequotas", namespace, name: limits.name }],
    outcome: rows.some(({ isExceeded }) => isExceeded) ? "rejected" : "allowed",
    message: rows.map(({ text }) => text).join("; "),
    seconds: 0,
  });
}

/** `requests.cpu: 2 requested, 1500m of 2 used, allowed: at most 500m` */
function rowOf(
  name: string,
  amount: Quantity,
  hard: Quantity,
  used: Quantity,
): { readonly text: string; readonly isExceeded: boolean } {
  const [requested, before, limit, allowed] = [amount, used, hard, leftOf(hard, used)].map(formatQuantity);
  return {
    text: `${name}: ${requested} requested, ${before} of ${limit} used, allowed: at most ${allowed}`,
    isExceeded: compareQuantities(addQuantities(used, amount), hard) > 0,
  };
}
