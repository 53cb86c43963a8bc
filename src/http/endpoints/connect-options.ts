/**
 * The options of a connection, such as PodExecOptions, in the query and the path. Source:
 * `getRequestOptions` in k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/get.go.
 */
import { dryRunOfQuery } from "../../apimachinery/dry-run.ts";
import { badRequest } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { parseQueryBool } from "../../apimachinery/parse-bool.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Field } from "../../lib/schema/schema.ts";
import type { RequestContext } from "../contract.ts";

/**
 * @returns undefined if the subresource is not a connection, such as the log of a pod; the object
 *   has no metadata
 * @throws ApiError 400
 */
export function connectOptions({ info, resolved }: RequestContext): KubeObject | undefined {
  const { version } = resolved as Resolved;
  const subresource = version.subresources.find(({ name }) => name === info.subresource);
  if (subresource?.connect === undefined) return undefined;
  if (dryRunOfQuery(info.query).length > 0) throw badRequest("dryRun is not supported");
  const { kind } = subresource;
  const fields = builtinSchema(`io.k8s.api.core.v1.${kind}`).fields.filter(({ name }) => !typeFields.has(name));
  const query = info.subresource === "proxy" ? withPath(info) : info.query;
  const values = fields
    .map((field) => [field.name, queryValue(query, field)])
    .filter(([, value]) => value !== undefined);
  return { kind, apiVersion: "v1", ...Object.fromEntries(values) } as KubeObject;
}

const typeFields: ReadonlySet<string> = new Set(["kind", "apiVersion"]);

/** The path behind `proxy` is an option. */
function withPath({ path, parts, query }: RequestContext["info"]): URLSearchParams {
  const rest = parts.slice(3).join("/"); // After resource, name and subresource.
  const rooted = rest === "" ? "" : `/${rest}`;
  const extended = new URLSearchParams(query);
  extended.set("path", path.endsWith("/") && !rooted.endsWith("/") ? `${rooted}/` : rooted);
  return extended;
}

function queryValue(query: URLSearchParams, { name, type }: Field): unknown {
  if (!query.has(name)) return undefined;
  if (type.kind === "bool") return parseQueryBool(query.get(name));
  if (type.kind !== "list") return query.get(name);
  const values = query.getAll(name);
  return type.items.kind === "int32" ? values.flatMap((value) => value.split(",")).map(portOf) : values;
}

/** Lists of integers are ports. @throws ApiError 400 */
function portOf(text: string): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && Number(text) <= 0xffff) return Number(text);
  const why = isNumber ? "value out of range" : "invalid syntax";
  throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quoteGo(text)}: ${why}`);
}
