/**
 * Managed fields of an object as those of its Scale, and back: of all that a manager owns, a Scale shows the replicas alone.
 * Source: resource-api §4.11; apimachinery's scale handler.
 */
import type { ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { difference, has, isEmpty, pathSetOf } from "../../lib/structured-merge/set.ts";
import type { ManagedSet } from "../../lib/structured-merge/updater.ts";
import { decodeManaged, encodeManaged } from "./entries.ts";

export const scaleVersion = "autoscaling/v1";

/** In a Scale, and in every kind that has one among the built-in ones. */
const replicasPath = ["spec", "replicas"].map(fieldElement);
const replicas = pathSetOf([replicasPath]);

/** Where an object has its replicas, by the version that its managers wrote it at: null where it has no scale, undefined for no version of its. */
export type ReplicasPaths = (apiVersion: string) => readonly string[] | null | undefined;

/** @throws ManagedFieldsError */
export function scaleEntries(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const { sets, times, read } = decodeManaged(entries);
  const shown = [...sets].filter(([, owned]) => owns(owned, paths));
  return encodeManaged({
    sets: new Map(shown.map(([id, { applied }]) => [id, { set: replicas, version: scaleVersion, applied }])),
    times,
    read,
  });
}

function owns({ set, version }: ManagedSet, paths: ReplicasPaths): boolean {
  const path = paths(version);
  return path !== undefined && path !== null && has(set, path.map(fieldElement));
}

/**
 * An entry of an update is another one in the Scale, for its version is: whoever updated the replicas gets an entry for them alone, which has no time.
 * So it is upstream, where the next to read such entries takes those of one manager for one, the last.
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
  const owners = new Map([...after.sets].filter(([, { set }]) => has(set, replicasPath)));
  const sets = new Map<string, ManagedSet>();
  for (const [id, owned] of before.sets) {
    if (paths(owned.version) === undefined) continue;
    const keeps = !owns(owned, paths) || owners.delete(id);
    const left = keeps ? owned : { ...owned, set: difference(owned.set, pathSet(owned)) };
    if (!isEmpty(left.set)) sets.set(id, left);
  }
  for (const [id, { applied }] of owners) sets.set(id, { set: pathSet({ version }), version, applied });
  return encodeManaged({ ...before, sets });
}
