/**
 * The managed fields of objects that mutating plugins changed. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/fieldmanager/admission.go.
 */
import type { KubeObject, ManagedFieldsEntry } from "../apimachinery/object.ts";
import { identical } from "../lib/json/values.ts";
import { decodeManaged, ManagedFieldsError, setEntries } from "../lib/managed-fields/entries.ts";
import { compare } from "../lib/structured-merge/compare.ts";
import { isEmpty } from "../lib/structured-merge/set.ts";
import type { PlainMap } from "../lib/structured-merge/typed.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";

/**
 * Restores managed fields that a plugin made invalid, with a warning.
 *
 * @param before the managed fields before the plugin
 */
export function checkManagedFields(
  { object, warnings }: AdmissionAttributes,
  before: ManagedFieldsEntry[] | undefined,
): void {
  const after = object?.metadata?.managedFields;
  if (object === undefined || identical(after, before)) return;
  try {
    decodeManaged(after);
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    setEntries(object, before);
    warnings.push(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error.message}`,
    );
  }
}

/**
 * Whether the write set the time of an entry of managed fields, which upstream holds with fractions
 * of seconds until the object is encoded: an object that a webhook received then differs from what
 * was sent, though no field changed.
 */
export function hasNewManagedTime({ object, oldObject, target }: AdmissionAttributes): boolean {
  const { managedFields } = object?.metadata ?? {};
  if (object === undefined || managedFields === undefined || managedFields.length === 0) return false;
  if (target.resource.definition.custom) return false; // Upstream holds custom resources as JSON.
  if (oldObject === undefined) return true;
  const applied = (entries: ManagedFieldsEntry[] | undefined): unknown =>
    entries?.filter(({ operation }) => operation === "Apply").map(({ time: _, ...entry }) => entry);
  if (!identical(applied(managedFields), applied(oldObject.metadata.managedFields))) return true;
  const schema = target.resource.store?.form.schema ?? target.version.schema;
  const { added, modified } = compare(withoutManagers(oldObject), withoutManagers(object), schema);
  return !isEmpty(added) || !isEmpty(modified);
}

function withoutManagers(object: KubeObject): PlainMap {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
