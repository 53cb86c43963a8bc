/** The numbers of a rolling update: integers, or percentages of the replicas. Source: upstream's apps validation */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { checkNonNegative, type Part } from "../fields.ts";

const notPercent =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** An empty text is one, and is refused. */
export function setRollingUpdateDefaults(rollingUpdate: Part, values: Readonly<Part>): void {
  for (const [field, value] of Object.entries(values)) rollingUpdate[field] ??= value;
}

/** As messages show it. */
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

/** Either pods may be missing, or there may be more of them. @param path of the strategy's `rollingUpdate` */
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

/** Who is above the partition moves. @param path of the strategy's `rollingUpdate` */
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

export function checkIntOrPercent(value: unknown, path: string, errors: FieldErrors): void {
  if (typeof value !== "string") checkNonNegative(value, path, errors);
  else if (percentOf(value) === undefined) errors.invalid(path, value, notPercent);
}

export function checkAtMostAll(value: unknown, path: string, errors: FieldErrors): void {
  if ((percentOf(value) ?? 0) > 100) errors.invalid(path, value, "must not be greater than 100%");
}

/** What is no percentage and no number counts as 0. */
function amountOf(value: unknown): number {
  return percentOf(value) ?? (Number(value) || 0);
}

function percentOf(value: unknown): number | undefined {
  return typeof value === "string" && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}
