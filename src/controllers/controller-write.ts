import { ApiError } from "../apimachinery/errors.ts";
import { controllerUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { WriteRequest } from "../registry/contract.ts";

/** Creates the write requests of one controller. */
export interface ControllerWrites {
  of(target: Resolved, namespace: string, name: string, subresource?: string): WriteRequest;
}

/** The program that runs the controller upstream: its name is the field manager and user agent. */
const program = "kube-controller-manager";
const server = "kube-apiserver";

/**
 * @param name the service account of the controller; `kube-apiserver` for controllers in the server
 */
export function writesAs(name: string): ControllerWrites {
  const user = controllerUser(name);
  const manager = name === server ? server : program;
  return {
    of: (target, namespace, objectName, subresource = "") => ({
      target,
      namespace,
      name: objectName,
      subresource,
      user,
      dryRun: false,
      fieldManager: manager,
      userAgent: manager,
      warnings: [],
    }),
  };
}

/**
 * Runs a write of one object that was checked before.
 *
 * @returns false when another writer has changed the object; true also when it does not exist any
 *   more
 */
export async function unlessConflict(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status.reason === "NotFound") return true;
    if (error.status.reason === "Conflict") return false;
    throw error;
  }
}
