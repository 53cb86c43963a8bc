/**
 * The amounts of a rolling update: integers, or percentages of the replicas.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import { checkNonNegative, type Part } from "../fields.ts";

const notPercent =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Sets only absent fields: an empty string counts as a value, which validation rejects. */
export function setRollingUpdateDefaults(rollingUpdate: Part, values: Readonly<Part>): void {
  for (const [field, value] of Object.entries(values)) rollingUpdate[field] ??= value;
}

/** The Go form that messages show. */
export const rollingUpdateInGo = ({ maxUnavailable = 0, maxSurge = 0 }: Part): Part => ({
  MaxUnavailable: maxUnavailable,
  MaxSurge: maxSurge,
});

/** @param path of the strategy's `rollingUpdate` */
export function validateDeploymentRollingUpdate(
  { maxUnavailable, maxSurge }: Part,
  path: string,
  errors: FieldErrors,
): void {
  checkIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
  checkIntOrPercent(maxSurge, `${path}.maxSurge`, errors);
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    errors.invalid(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0");
  }
  checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`, errors);
}

/**
 * Exactly one of `maxUnavailable` and `maxSurge` must be positive.
 *
 * @param path of the strategy's `rollingUpdate`
 */
export function validateDaemonSetRollingUpdate(
  { maxUnavailable, maxSurge }: Part,
  path: string,
  errors: FieldErrors,
): void {
  checkIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
  checkIntOrPercent(maxSurge, `${path}.maxSurge`, errors);
  checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`, errors);
  checkAtMostAll(maxSurge, `${path}.maxSurge`, errors);
  const [hasUnavailable, hasSurge] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0];
  if (hasUnavailable && hasSurge)
    errors.invalid(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero");
  else if (!hasUnavailable && !hasSurge) errors.required(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0");
}

/** @param path of the strategy's `rollingUpdate` */
export function validateStatefulSetRollingUpdate(
  { partition, maxUnavailable }: Part,
  path: string,
  errors: FieldErrors,
): void {
  checkNonNegative(partition, `${path}.partition`, errors);
  if (maxUnavailable === undefined || maxUnavailable === null) return;
  checkIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
  if (amountOf(maxUnavailable) === 0) errors.invalid(`${path}.maxUnavailable`, maxUnavailable, "cannot be 0");
  checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`, errors);
}

/** Rejects negative numbers and strings that are no percentage. */
export function checkIntOrPercent(value: unknown, path: string, errors: FieldErrors): void {
  if (typeof value !== "string") checkNonNegative(value, path, errors);
  else if (percentOf(value) === undefined) errors.invalid(path, typedText(value), notPercent);
}

/** Rejects percentages above 100. */
export function checkAtMostAll(value: unknown, path: string, errors: FieldErrors): void {
  if ((percentOf(value) ?? 0) > 100) errors.invalid(path, value, "must not be greater than 100%");
}

/** @returns 0 for a value that is neither a percentage nor a number */
function amountOf(value: unknown): number {
  return percentOf(value) ?? (Number(value) || 0);
}

function percentOf(value: unknown): number | undefined {
  return typeof value === "string" && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}
