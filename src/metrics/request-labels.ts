/**
 * The labels of requests in metrics. Values come from the catalog only, so that clients cannot
 * create series.
 */
import { dryRunOfQuery } from "../apimachinery/dry-run.ts";
import type { RequestState } from "../request/context.ts";
import { requestScope, resourceVerb } from "../request/normalized-verb.ts";
import type { ValuesOf } from "./metric-row.ts";

/** What metrics report of a resource at a version. */
interface LabelledResource {
  readonly resource: { readonly definition: { readonly group: string; readonly resource: string } };
  readonly version: {
    readonly version: string;
    readonly subresources: readonly { readonly name: string }[];
    readonly deprecated?: { readonly removedIn?: string } | undefined;
  };
}

/** A request with the resource that its path names. */
export interface CountedRequest extends RequestState {
  /** Absent for paths that name no resource of this server. */
  readonly resolved?: LabelledResource | undefined;
}

/** The names of the labels, in order. */
export const requestLabelNames = [
  "verb",
  "dry_run",
  "group",
  "version",
  "resource",
  "subresource",
  "scope",
  "component",
] as const;

/** The values of {@link requestLabelNames}. */
export type RequestLabels = ValuesOf<typeof requestLabelNames>;

/** The names of the labels of a terminated request. */
export const terminationLabelNames = [
  "verb",
  "group",
  "version",
  "resource",
  "subresource",
  "scope",
  "component",
  "code",
] as const;

const readVerbs = new Set(["GET", "LIST", "WATCH"]);
const healthPath = /^\/(?:livez|readyz|healthz)(?=\/|$)/;

/**
 * @returns the values in the order of {@link requestLabelNames}, separated by spaces, which no
 *   value contains; undefined for requests that upstream does not count, such as discovery
 */
export function requestLabels(context: CountedRequest): string | undefined {
  const { info, resolved, exchange } = context;
  if (!info.isResourceRequest) {
    const health = healthPath.exec(info.path)?.[0];
    return health === undefined || exchange.method !== "GET" ? undefined : `GET     ${health}  `;
  }
  if (resolved === undefined) return undefined;
  const { group, resource } = resolved.resource.definition;
  const { version, subresources } = resolved.version;
  const subresource =
    info.subresource !== "" && subresources.some(({ name }) => name === info.subresource) ? info.subresource : "";
  const verb = resourceVerb(context);
  const dryRun = readVerbs.has(verb) ? "" : dryRunOf(info.query);
  return `${verb} ${dryRun} ${group} ${version} ${resource} ${subresource} ${requestScope(context)} apiserver`;
}

/**
 * The maximum length of a path in the label `subresource`. The number of series has its own limit.
 */
const pathMax = 128;

/** @returns the labels of a terminated request, whether its path is known or not */
export function terminationLabels(
  context: CountedRequest,
  code: number,
  component = "apiserver",
): ValuesOf<typeof terminationLabelNames> {
  const { info, exchange } = context;
  const resourceLabels = requestLabels(context);
  const path = info.isResourceRequest ? "" : info.path.slice(0, pathMax);
  const labels = resourceLabels?.split(" ") ?? [exchange.method, "", "", "", "", path, "", "apiserver"];
  const [verb = "", , group = "", version = "", resource = "", subresource = "", scope = ""] = labels;
  return [verb, group, version, resource, subresource, scope, component, String(code)];
}

function dryRunOf(query: URLSearchParams): string {
  const values = dryRunOfQuery(query);
  if (values.length === 0) return "";
  return values.every((value) => value === "All") ? "All" : "invalid";
}
