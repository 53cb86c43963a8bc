/** What a method and a path mean. Source: resource-api §4.1–4.3; the reading order of segments is upstream's request info resolver. */
import { ApiError, badRequest } from "../api/errors.ts";
import type { RequestInfo } from "./contract.ts";

const verbOfMethod: Readonly<Record<string, string>> = { GET: "get", HEAD: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };
/**
 * `/namespaces/x/status` names a subresource of a namespace, not a resource called status inside it. Nor are there namespaces in a namespace:
 * read as such, the rights of one namespace would be asked for all of them.
 */
const notInNamespaces = new Set(["status", "finalize", "namespaces"]);
const noQuery = new URLSearchParams();

/** @throws ApiError 400 when the path is not properly escaped */
export function requestInfo(method: string, target: string): RequestInfo {
  const mark = target.indexOf("?");
  const path = unescapePath(mark < 0 ? target : target.slice(0, mark));
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  const segments = (path.endsWith("/") ? path.replace(/\/+$/, "") : path).split("/");
  if (segments[0] === "" && segments.length > 1) segments.shift();
  const prefix = segments[0];
  const groupLength = prefix === "api" ? 0 : 1;
  if ((prefix !== "api" && prefix !== "apis") || segments.length < 3 + groupLength) return nonResource(method, path, query);
  const rest = segments.slice(2 + groupLength);
  // What is proxied may have empty segments, a resource has none.
  const empty = segments.indexOf("");
  if (empty >= 0 && empty < 5 + groupLength + (rest[0] === "watch" ? 1 : 0)) return nonResource(method, path, query);
  let verb = verbOfMethod[method] ?? "";
  if (rest[0] === "watch" && rest.length > 1) {
    rest.shift();
    if (verb === "get") verb = "watch";
  }
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1] as string;
    if (rest.length > 2 && !notInNamespaces.has(rest[2] as string)) rest.splice(0, 2);
  }
  const [resource = "", name = "", subresource = ""] = rest;
  const fieldSelector = query.get("fieldSelector") ?? "";
  if (verb === "get" && isWatch(query)) verb = "watch";
  else if (verb === "get" && name === "") verb = "list";
  else if (verb === "delete" && name === "") verb = "deletecollection";
  const selects = verb === "list" || verb === "watch" || verb === "deletecollection";
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix: prefix,
    group: groupLength === 0 ? "" : (segments[1] as string),
    version: segments[1 + groupLength] as string,
    namespace,
    resource,
    subresource,
    // A selector for one name is authorized as that name.
    name: name === "" && selects ? (selectedName(fieldSelector) ?? "") : name,
    parts: rest,
    fieldSelector: selects ? fieldSelector : "",
    labelSelector: selects ? (query.get("labelSelector") ?? "") : "",
    query,
  };
}

const longSubresources = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Watches and connections: what may take as long as it likes. */
export function isLongRunning({ verb, subresource }: Pick<RequestInfo, "verb" | "subresource">): boolean {
  return verb === "watch" || verb === "proxy" || longSubresources.has(subresource);
}

/** Whether a GET of this path and query is a watch. */
export function isWatchTarget(target: string): boolean {
  try {
    return requestInfo("GET", target).verb === "watch";
  } catch (error) {
    if (error instanceof ApiError) return false; // What is wrong with it is for its answer to tell.
    throw error;
  }
}

function nonResource(method: string, path: string, query: URLSearchParams): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: "",
    group: "",
    version: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    parts: [],
    fieldSelector: "",
    labelSelector: "",
    query,
  };
}

/** `watch=1`, `watch=true`, or `watch` alone. */
function isWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** The name that `metadata.name=x` asks for, when it is plain. */
function selectedName(fieldSelector: string): string | undefined {
  return /^(?:.*,)?metadata\.name==?([^,=!\\]+)(?:,.*)?$/.exec(fieldSelector)?.[1];
}

function unescapePath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) throw badRequest("invalid URL escape in path");
    throw error;
  }
}
