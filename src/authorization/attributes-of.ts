import type { RequestState } from "../request/context.ts";
import type { AuthorizationAttributes } from "./contract.ts";

/** The attributes of a request for the authorizer. */
export function attributesOf({ info, user, exchange }: RequestState): AuthorizationAttributes {
  return {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    path: info.path,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    fieldSelector: info.fieldSelector,
    labelSelector: info.labelSelector,
    connection: exchange,
  };
}
