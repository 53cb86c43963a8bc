/**
 * StorageVersionMigration: the request to rewrite all objects of a resource.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/storagemigration/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { formatGroupResource, type KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dns1035LabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { items, keepMetaForStatus, type Part } from "../fields.ts";

/** The strategy of StorageVersionMigration. */
export const storageVersionMigration = strategy({
  columns: [
    { ...nameColumn, format: "" },
    text("Resource", "GroupResource to migrate", ({ spec }) =>
      formatGroupResource({ group: spec?.resource?.group ?? "", resource: spec?.resource?.resource ?? "" }),
    ),
    text("Status", "Status of the migration", migrationStatus),
  ],
  repeatsMetaRules: false,
  prepareForStatusUpdate: keepMetaForStatus,
  validate,
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    if (!deepEqual(goForm(next), goForm(old))) errors.invalid("spec", goForm(next), "field is immutable");
  },
  validateStatusUpdate(next, old, errors) {
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    validateVersion(next.status?.resourceVersion ?? "", errors);
    const path = "status.conditions";
    const conditions = items(next.status?.conditions);
    validateConditions(conditions, path, errors);
    const before: string = old.status?.resourceVersion ?? "";
    const version: string = next.status?.resourceVersion ?? "";
    if (before !== "" && version !== before) errors.invalid("status.resourceVersion", version, "field is immutable");
    const shown = next.status?.conditions === undefined ? null : conditions.map(shownCondition);
    if (is(next, "Succeeded") && is(next, "Failed")) {
      errors.invalid(path, shown, "Both success and failed conditions cannot be true at the same time");
    }
    if (is(old, "Succeeded") && !is(next, "Succeeded"))
      errors.invalid(path, shown, "Success condition cannot be set to false once it is true");
    if (is(old, "Failed") && !is(next, "Failed"))
      errors.invalid(path, shown, "Failed condition cannot be set to false once it is true");
  },
});

/** The form in upstream's error messages. */
function goForm({ spec = {} }: KubeObject): Part {
  const { group = "", resource = "" } = spec.resource ?? {};
  return { Resource: { group, resource } };
}

function shownCondition({
  type = "",
  status = "",
  observedGeneration = 0,
  lastTransitionTime = null,
  reason = "",
  message = "",
}: Part): Part {
  return { type, status, ...(observedGeneration !== 0 && { observedGeneration }), lastTransitionTime, reason, message };
}

function is({ status }: KubeObject, type: string): boolean {
  return items(status?.conditions).find((condition) => condition.type === type)?.status === "True";
}

function validate({ spec = {} }: KubeObject, errors: FieldErrors): void {
  const { group = "", resource = "" } = spec.resource ?? {};
  const path = "spec.resource";
  if (resource === "") errors.required(`${path}.resource`, "resource is required to be set");
  else validateJoined(resource, `${path}.resource`, dns1035LabelProblems(resource), errors);
  if (group !== "") validateJoined(group, `${path}.group`, dnsSubdomainProblems(group), errors);
}

function validateJoined(text: string, path: string, problems: readonly string[], errors: FieldErrors): void {
  if (problems.length > 0) errors.invalid(path, text, problems.join(","));
}

/** A number of any size without leading zeros. */
function validateVersion(version: string, errors: FieldErrors): void {
  if (version === "" || /^[1-9][0-9]*$/.test(version)) return;
  errors.invalid("status.resourceVersion", version, `resource version is not well formed: ${version}`);
}

/** The last condition that is true. */
function migrationStatus({ status }: KubeObject): string {
  const isState = (type: string): boolean => type === "Running" || type === "Failed" || type === "Succeeded";
  return (
    items(status?.conditions).findLast((condition) => condition.status === "True" && isState(condition.type))?.type ??
    "Unknown"
  );
}
