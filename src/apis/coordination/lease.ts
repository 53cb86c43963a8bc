/**
 * Lease: a lock with a holder and an expiry. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/coordination/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { text } from "../column.ts";
import { validateLeaseStrategy } from "./lease-strategy.ts";

/** The strategy of Lease. */
export const lease = strategy({
  columns: [
    nameColumn,
    text(
      "Holder",
      "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
      ({ spec }) => spec?.holderIdentity ?? "",
    ),
    ageColumn,
  ],
  isolatesStatus: false,
  validate,
  validateUpdate: (next, _old, errors) => validate(next, errors),
});

function validate({ spec = {} }: KubeObject, errors: FieldErrors): void {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions, strategy: how, preferredHolder = "" } = spec;
  if (seconds <= 0) errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
  if (transitions < 0) errors.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0");
  if (how !== undefined) validateLeaseStrategy(how, "spec.strategy", errors);
  if (preferredHolder !== "" && (how ?? "") === "")
    errors.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined");
}
