/** Writes of the server itself. */
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { WriteRequest } from "./contract.ts";

/** The field manager and user agent of the server's own writes. */
export const serverName = "kube-apiserver";

interface ServerWrite {
  readonly target: Resolved;
  /** Empty when unset, for objects without one. */
  readonly namespace?: string;
  /** Empty to create. */
  readonly name: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
}

/** Returns the request of a write of the server itself. */
export function serverWrite(write: ServerWrite): WriteRequest {
  const { target, namespace = "", name, subresource = "", fieldManager = serverName } = write;
  return {
    target,
    namespace,
    name,
    subresource,
    user: loopbackUser,
    dryRun: false,
    fieldManager,
    userAgent: serverName,
    warnings: [],
  };
}
