/**
 * Parses method and path. Segments are read in the order of
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/request/requestinfo.go.
 */

import { ApiError, badRequest } from "../apimachinery/errors.ts";
import { parseQueryBool } from "../apimachinery/parse-bool.ts";
import { parseQuery } from "../lib/go-net/go-query.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { parseFieldSelector, requiresExactMatch } from "../lib/selectors/field.ts";
import { parseLabelSelector } from "../lib/selectors/label.ts";
import { SelectorError } from "../lib/selectors/selector-error.ts";
import { trimEndOf, trimStartOf } from "../lib/text/trim.ts";
import { parseListOptions } from "./list-options.ts";

/**
 * The attributes of a request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/request/requestinfo.go.
 */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Whether the path has empty segments: it is authorized as that of a resource, and has no route. */
  readonly isMalformed: boolean;
  readonly path: string;
  /**
   * get list watch create update patch delete deletecollection proxy, or the lower-case method for
   * non-resource paths.
   */
  readonly verb: string;
  /** `api` or `apis` for resource requests. */
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The rest of the path after the subresource (proxy). */
  readonly parts: readonly string[];
  readonly fieldSelector: string;
  readonly labelSelector: string;
  readonly query: URLSearchParams;
}

/** The verb of a request for one object. */
export const verbOfMethod: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
/** `/namespaces/x/status` is a subresource of a namespace, not a resource called status in it. */
const namespaceSubresources = new Set(["status", "finalize"]);
/** Namespaces are not in namespaces: otherwise the rights in one of them would apply to all. Custom resources can have this plural. */
const notInNamespaces = new Set([...namespaceSubresources, "namespaces"]);
const noQuery = new URLSearchParams();

/**
 * Parses a request line.
 * @throws ApiError 400 when the path has malformed escapes
 */
export function requestInfo(method: string, target: string): RequestInfo {
  const mark = target.indexOf("?");
  const path = unescapePath(mark < 0 ? target : target.slice(0, mark));
  const query = mark < 0 ? noQuery : parseQuery(target.slice(mark + 1));
  const segments = trimStartOf(trimEndOf(path, "/"), "/").split("/");
  const prefix = segments[0];
  const groupLength = prefix === "api" ? 0 : 1;
  if ((prefix !== "api" && prefix !== "apis") || segments.length < 3 + groupLength)
    return nonResource(method, path, query);
  const rest = segments.slice(2 + groupLength);
  const verbOfPath = (rest[0] === "watch" || rest[0] === "proxy") && rest.length > 1 ? rest.shift() : undefined;
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1] as string;
    const ofNamespace = groupLength === 0 ? notInNamespaces : namespaceSubresources;
    if (rest.length > 2 && !ofNamespace.has(rest[2] as string)) rest.splice(0, 2);
  }
  // The name and later segments may be empty, but none before the resource.
  const empty = segments.indexOf("");
  const isMalformed = path.startsWith("//") || (empty >= 0 && empty <= segments.length - rest.length);
  const [resource = "", name = "", part = ""] = rest;
  const subresource = verbOfPath === "proxy" ? "" : part;
  const verb = verbOfPath ?? verbOf(method, { name, subresource, query });
  const lists = verbOfPath === undefined && (verb === "list" || verb === "watch");
  const selects = lists || verb === "deletecollection";
  return {
    isResourceRequest: true,
    isMalformed,
    path,
    verb,
    apiPrefix: prefix,
    group: groupLength === 0 ? "" : (segments[1] as string),
    version: segments[1 + groupLength] as string,
    namespace,
    resource,
    subresource,
    name: name === "" && lists ? selectedName(query) : name,
    parts: rest,
    fieldSelector: selects ? (query.get("fieldSelector") ?? "") : "",
    labelSelector: selects ? (query.get("labelSelector") ?? "") : "",
    query,
  };
}

function verbOf(
  method: string,
  { name, subresource, query }: { name: string; subresource: string; query: URLSearchParams },
): string {
  const verb = verbOfMethod[method] ?? "";
  if (verb === "get" && subresource === "" && parseQueryBool(query.get("watch"))) return "watch";
  if (verb === "get" && name === "") return "list";
  if (verb === "delete" && name === "") return "deletecollection";
  return verb;
}

/**
 * Checks the name in the path, which upstream's store validates as a path segment.
 * @throws ApiError 400
 */
export function checkName({ parts: [, name = ""] }: RequestInfo): void {
  const problems = pathSegmentNameProblems(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${quoteGo(name)}: ${problems.join(";")}`);
}

/**
 * Checks that the path has a name, which is missing only for updates of custom resources.
 * @throws ApiError 400
 */
export function checkObjectName({ name }: RequestInfo): void {
  if (name === "") throw badRequest("name must be provided");
}

const longSubresources = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Whether a request has no time limit: watches, connections and profiles. */
export function isLongRunning({ verb, subresource, isResourceRequest, path }: RequestInfo): boolean {
  if (!isResourceRequest) return path.startsWith("/debug/pprof/");
  return verb === "watch" || verb === "proxy" || longSubresources.has(subresource);
}

/** Whether a GET of this path and query is a watch. */
export function isWatchTarget(target: string): boolean {
  return infoOfTarget(target)?.verb === "watch";
}

/** Whether this path is that of a connection, such as `pods/exec` or `services/proxy`. */
export function isConnectTarget(target: string): boolean {
  const info = infoOfTarget(target);
  return info !== undefined && info.group === "" && longSubresources.has(info.subresource);
}

/** @returns what a GET of this path and query requests; undefined when the path has malformed escapes */
export function infoOfTarget(target: string): RequestInfo | undefined {
  try {
    return requestInfo("GET", target);
  } catch (error) {
    if (error instanceof ApiError) return undefined; // Its response reports the error.
    throw error;
  }
}

function nonResource(method: string, path: string, query: URLSearchParams): RequestInfo {
  return {
    isResourceRequest: false,
    isMalformed: false,
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

/**
 * The name that a list or a watch is authorized for: that of `metadata.name=x`, if the whole query
 * is well-formed. A deletecollection has none, so that `resourceNames` cannot allow it. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/request/requestinfo.go.
 */
function selectedName(query: URLSearchParams): string {
  if (!(query.get("fieldSelector") ?? "").includes("metadata.name")) return "";
  try {
    const { fieldSelector, labelSelector } = parseListOptions(query);
    parseLabelSelector(labelSelector);
    const name = requiresExactMatch(parseFieldSelector(fieldSelector), "metadata.name") ?? "";
    return pathSegmentNameProblems(name).length === 0 ? name : "";
  } catch (error) {
    if (error instanceof ApiError || error instanceof SelectorError) return ""; // The endpoint reports it.
    throw error;
  }
}

/** Go's paths are bytes (`unescape` in net/url/url.go): those that are not UTF-8 become U+FFFD, as in Go's JSON. */
function unescapePath(path: string): string {
  if (!path.includes("%")) return path;
  if (/%(?![\da-f]{2})/i.test(path)) throw badRequest("invalid URL escape in path");
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return path.replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll("%", ""), "hex").toString());
  }
}
