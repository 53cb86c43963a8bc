import { controllerUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { WriteRequest } from "../registry/contract.ts";

/** What every write of one controller carries. */
export interface ControllerWrites {
  of(target: Resolved, namespace: string, name: string, subresource?: string): WriteRequest;
}

/** Upstream's controllers run in one program, but for those that are part of the server. */
const program = "kube-controller-manager";
const server = "kube-apiserver";

/** @param name of its service account; its program is its field manager */
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
