/** What nobody manages: what the object is, and what the server alone writes. Source: apimachinery's managedfields package. */
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { difference, isEmpty, pathSetOf } from "../../lib/structured-merge/set.ts";
import type { ManagedSet } from "../../lib/structured-merge/updater.ts";

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

export const unmanaged = pathSetOf(
  [["apiVersion"], ["kind"], ["metadata"], ...systemFields.map((field) => ["metadata", field])].map((path) =>
    path.map(fieldElement),
  ),
);

/** Takes them out of what one manager has; who has nothing left manages nothing. */
export function stripUnmanaged(sets: Map<string, ManagedSet>, id: string): void {
  const mine = sets.get(id);
  if (mine === undefined) return;
  const set = difference(mine.set, unmanaged);
  if (isEmpty(set)) sets.delete(id);
  else sets.set(id, { ...mine, set });
}
