/** The error for requests that are not authorized. */
import { type ApiError, forbidden } from "../apimachinery/errors.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { AuthorizationAttributes } from "./contract.ts";

const markup: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes text that repeats client input, so that a browser cannot interpret it as HTML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => markup[character] as string);
}

/** Returns a 403 with upstream's message. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): ApiError {
  const { group, resource, name, isResourceRequest } = attributes;
  const what = escapeMarkup(deniedAction(attributes));
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
