import { controllerUser, loopbackUser } from "../apimachinery/system-user.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { WriteRequest } from "../registry/contract.ts";

/** Creates the write requests of one controller. */
export interface ControllerWrites {
  of(target: Resolved, namespace: string, name: string, subresource?: string): WriteRequest;
}

/** The program that runs the controller upstream: its name is the field manager and user agent. */
const program = "kube-controller-manager";

/** @param name the service account of the controller */
export function writesAs(name: string): ControllerWrites {
  return writesBy(controllerUser(name), program);
}

/** The writes of controllers that upstream's server runs. */
export const serverWrites: ControllerWrites = writesBy(loopbackUser, "kube-apiserver");

/** @param manager the field manager and user agent */
export function writesBy(user: UserInfo, manager: string): ControllerWrites {
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
