/** Upstream's words for what a user may not do. Source: access-control §7. */
import { type ApiError, forbidden } from "../apimachinery/errors.ts";
import type { AuthorizationAttributes } from "../authorization/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";

const markup: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** No browser may take a text, which repeats what the client sent, for a page. */
export function withoutMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => markup[character] as string);
}

export function refusal(attributes: AuthorizationAttributes, reason: string): ApiError {
  const { group, resource, name, isResourceRequest } = attributes;
  const what = withoutMarkup(deniedAction(attributes));
  const why = reason === "" ? what : `${what}: ${reason}`;
  return forbidden(
    isResourceRequest ? { group, resource } : { group: "", resource: "" },
    isResourceRequest ? name : "",
    why,
  );
}

function deniedAction({
  user,
  verb,
  isResourceRequest,
  path,
  group,
  resource,
  subresource,
  namespace,
}: AuthorizationAttributes): string {
  const who = `User ${quoteGo(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${quoteGo(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quoteGo(namespace)}`;
  return `${who} resource ${quoteGo(what)} in API group ${quoteGo(group)} ${where}`;
}
