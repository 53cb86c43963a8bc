/**
 * The contract of controllers that protect objects in use.
 * Source: Kubernetes docs, "Persistent Volumes", heading "Storage Object in Use Protection".
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { Reference } from "./uses.ts";

/** How one kind is protected while it is in use. */
export interface Protection<Use> {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly finalizer: string;
  /** Whether objects without the finalizer, from before the admission plugin was enabled, get it. */
  readonly addsFinalizer: boolean;
  /** The service account of the controller. */
  readonly writer: string;
  /** The name of the queue in metrics. */
  readonly queue: string;
  /** The kinds whose objects use protected objects. */
  readonly users: readonly UserKind<Use>[];
  /** Whether an object that is being deleted is still in use. */
  isUsed(object: KubeObject, uses: Iterable<Use>): boolean;
  /**
   * Changes the status of an object that is not being deleted; undefined if the controller sets
   * none.
   *
   * @returns whether it has changed
   */
  readonly updateStatus?: ((object: KubeObject, uses: Iterable<Use>, now: number) => boolean) | undefined;
}

/** A kind whose objects can use protected objects. */
export interface UserKind<Use> {
  readonly group: string;
  readonly resource: string;
  /** The JSON of an object that uses a protected one contains one of these texts. */
  readonly marks: readonly string[];
  /** @param store of the protected kind, for keys */
  references(user: KubeObject, store: ResourceStore): Reference<Use>[];
}
