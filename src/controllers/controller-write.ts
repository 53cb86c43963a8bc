import { controllerUser } from "../api/system-user.ts";
import type { WriteRequest } from "../registry/contract.ts";
import type { Resolved } from "../resource/contract.ts";

/** What every write of one controller carries. */
export interface ControllerWrites {
  of(target: Resolved, namespace: string, name: string, subresource?: string): WriteRequest;
}

/** @param name of its service account, which is its field manager, too */
export function writesAs(name: string): ControllerWrites {
  const user = controllerUser(name);
  return {
    of: (target, namespace, objectName, subresource = "") => ({
      target,
      namespace,
      name: objectName,
      subresource,
      user,
      dryRun: false,
      fieldManager: name,
      userAgent: name,
      warnings: [],
    }),
  };
}
