/** Changes of other objects that are committed together with a write. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { DerivedValue, DerivedWrite, Stored } from "../storage/contract.ts";

export type { DerivedValue, DerivedWrite, Seal, Stored } from "../storage/contract.ts";

/** A change of another object in the commit of a write. */
export type JointChange = JointWrite | JointCreation | JointValue;

/** Another object that is created in the commit of a write, by `prepareCreation` of the registry. */
export interface JointCreation {
  readonly target: Resolved;
  readonly key: string;
  /** Complete and valid. The commit fails with {@link JointConflict} when the key is not absent. */
  readonly object: KubeObject;
}

/**
 * A change of a value that is not an object of the catalog, such as a range of ports. Its `derive`
 * may throw {@link JointConflict}.
 */
export interface JointValue {
  readonly value: DerivedWrite;
}

/**
 * A joint change was not possible, because another writer was first: the attempt to store the write
 * is repeated from the current state.
 */
export class JointConflict extends Error {
  /** @param key of the value that another writer changed */
  constructor(key: string) {
    super(`another writer has changed ${key}`);
    this.name = "JointConflict";
  }
}

/** A change of the status of another object in the commit of a write. */
export interface JointWrite {
  readonly target: Resolved;
  readonly key: string;
  /**
   * Computes the new value while the commit is decided, without waiting, as `DerivedWrite` of the
   * storage contract.
   * @param update changes a copy of the object as a write of this server to its status, and encodes
   *   it
   * @returns undefined to leave the object as it is
   * @throws ApiError to reject the write
   */
  derive(newest: Stored, update: UpdateStatus): DerivedValue | undefined;
}

/** @param change changes the status of the object */
export type UpdateStatus = (
  change: (object: KubeObject) => void,
) => Required<Omit<DerivedValue, "shared">> & { object: KubeObject };
