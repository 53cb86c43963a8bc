/** Asks whether the caller may do this. Source: access-control §5.3, §7. */
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";
import type { Filter, RequestContext } from "../contract.ts";
import { refusal } from "../refusal.ts";

/** @throws ApiError 403 with upstream's text */
export function authorizationFilter(authorize: Authorizer): Filter {
  return (context) => {
    const attributes = attributesOf(context);
    const answer = authorize(attributes);
    if (answer instanceof Promise) return answer.then((decision) => check(context, attributes, decision));
    return check(context, attributes, answer);
  };
}

function check(context: RequestContext, attributes: AuthorizationAttributes, { decision, reason }: Decision): undefined {
  context.audit?.annotate("authorization.k8s.io/decision", decision === "allow" ? "allow" : "forbid");
  context.audit?.annotate("authorization.k8s.io/reason", reason);
  if (decision === "allow") return;
  context.headers["x-content-type-options"] = "nosniff";
  throw refusal(attributes, reason);
}

export function attributesOf({ info, user }: RequestContext): AuthorizationAttributes {
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
  };
}
