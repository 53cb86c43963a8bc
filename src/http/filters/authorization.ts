/** Asks whether the caller may do this. Source: access-control §5.3, §7. */
import { type ApiError, forbidden } from "../../api/errors.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Filter, RequestContext } from "../contract.ts";

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

/** Nor may a browser take the text, which repeats what the client sent, for a page. */
const markup: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function refusal(attributes: AuthorizationAttributes, reason: string): ApiError {
  const { group, resource, name, isResourceRequest } = attributes;
  const what = deniedAction(attributes).replace(/[&<>]/g, (character) => markup[character] as string);
  const why = reason === "" ? what : `${what}: ${reason}`;
  return forbidden(isResourceRequest ? { group, resource } : { group: "", resource: "" }, isResourceRequest ? name : "", why);
}

function deniedAction({ user, verb, isResourceRequest, path, group, resource, subresource, namespace }: AuthorizationAttributes): string {
  const who = `User ${quoteGo(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${quoteGo(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quoteGo(namespace)}`;
  return `${who} resource ${quoteGo(what)} in API group ${quoteGo(group)} ${where}`;
}
