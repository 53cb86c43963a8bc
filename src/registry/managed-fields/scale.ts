/**
 * Managed fields of an object as those of its Scale, and back: of all that a manager owns, a Scale shows the replicas alone.
 * Source: resource-api §4.11; apimachinery's scale handler.
 */
import type { ManagedFieldsEntry } from "../../api/object.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { difference, has, isEmpty, pathSetOf } from "../../lib/structured-merge/set.ts";
import type { ManagedSet } from "../../lib/structured-merge/updater.ts";
import { decodeManaged, encodeManaged, managerId, managerInfo } from "./entries.ts";

export const scaleVersion = "autoscaling/v1";

/** In a Scale, and in every kind that has one among the built-in ones. */
const replicasPath = ["spec", "replicas"].map(fieldElement);
const replicas = pathSetOf([replicasPath]);

/** Where an object has its replicas, by the version that its managers wrote it at; undefined for what has no scale. */
export type ReplicasPaths = (apiVersion: string) => readonly string[] | undefined;

/** @throws ManagedFieldsError */
export function scaleEntries(entries: readonly ManagedFieldsEntry[] | undefined, paths: ReplicasPaths): ManagedFieldsEntry[] | undefined {
  const { sets, times, read } = decodeManaged(entries);
  const shown = [...sets].filter(([, owned]) => owns(owned, paths));
  return encodeManaged({ sets: new Map(shown.map(([id, { applied }]) => [id, { set: replicas, version: scaleVersion, applied }])), times, read });
}

function owns({ set, version }: ManagedSet, paths: ReplicasPaths): boolean {
  const path = paths(version);
  return path !== undefined && has(set, path.map(fieldElement));
}

/** Who updates a Scale is, in the object, who updated the object at its own version. */
function parentId(id: string, version: string): string {
  const info = managerInfo(id);
  return managerId(info.operation === "Update" ? { ...info, apiVersion: version } : info);
}

/**
 * @param parent of the object as it was
 * @param scale of its Scale as it is to be
 * @param version of the object, in which those are written who own the replicas now
 * @throws ManagedFieldsError
 */
export function parentEntries(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  version: string,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const pathSet = ({ version: at }: Pick<ManagedSet, "version">) => pathSetOf([(paths(at) ?? []).map(fieldElement)]);
  const before = decodeManaged(parent);
  const after = decodeManaged(scale);
  const owners = new Map([...after.sets].filter(([, { set }]) => has(set, replicasPath)).map(([id, owned]) => [parentId(id, version), owned]));
  const sets = new Map<string, ManagedSet>();
  for (const [id, owned] of before.sets) {
    const keeps = !owns(owned, paths) || owners.delete(id);
    const left = keeps ? owned : { ...owned, set: difference(owned.set, pathSet(owned)) };
    if (!isEmpty(left.set)) sets.set(id, left);
  }
  for (const [id, { applied }] of owners) sets.set(id, { set: pathSet({ version }), version, applied });
  return encodeManaged({ ...before, sets });
}
