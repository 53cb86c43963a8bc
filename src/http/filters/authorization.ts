/** Asks whether the caller may do this. Source: access-control §5.3, §7. */
import { ApiError, forbidden } from "../../api/errors.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";
import type { Filter, RequestContext } from "../contract.ts";

/** @throws ApiError 403 with upstream's text */
export function authorizationFilter(authorize: Authorizer): Filter {
  return (context) => {
    const attributes = attributesOf(context);
    const answer = authorize(attributes);
    if (answer instanceof Promise) return answer.then((decision) => check(attributes, decision));
    return check(attributes, answer);
  };
}

function check(attributes: AuthorizationAttributes, { decision, reason }: Decision): undefined {
  if (decision !== "allow") throw refusal(attributes, reason);
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

function refusal(attributes: AuthorizationAttributes, reason: string): ApiError {
  const { user, verb, isResourceRequest, path, group, resource, subresource, namespace, name } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  const why = reason === "" ? "" : `: ${reason}`;
  if (!isResourceRequest)
    return new ApiError({ code: 403, reason: "Forbidden", message: `forbidden: ${who} path ${JSON.stringify(path)}${why}`, details: {} });
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return forbidden({ group, resource }, name, `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}${why}`);
}
