/**
 * Fields that are never owned: identity, and fields that only the server sets. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/managedfields/internal/stripmeta.go.
 */
import { fieldElement } from "../structured-merge/fields-v1.ts";
import { difference, isEmpty, pathSetOf } from "../structured-merge/set.ts";
import type { ManagedSet } from "../structured-merge/updater.ts";

const systemFields = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
];

/** The paths that are never owned. */
export const unmanaged = pathSetOf(
  [["apiVersion"], ["kind"], ["metadata"], ...systemFields.map((field) => ["metadata", field])].map((path) =>
    path.map(fieldElement),
  ),
);

/** Removes unmanaged fields from a manager's set, and the manager if none remain. */
export function stripUnmanaged(sets: Map<string, ManagedSet>, id: string): void {
  const mine = sets.get(id);
  if (mine === undefined) return;
  const set = difference(mine.set, unmanaged);
  if (isEmpty(set)) sets.delete(id);
  else sets.set(id, { ...mine, set });
}
