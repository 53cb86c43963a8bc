/** Sends each request to two servers and compares their answers. */

import { readFileSync } from "node:fs";
import { type Difference, jsonDifferences } from "../../support/json-differences.ts";
import type { Answer, RawClient, RawRequest } from "../../support/raw-client.ts";

export interface Twins {
  /**
   * @returns this server's answer, and its differences from upstream's, without times, uids and
   * resourceVersions
   */
  send(request: RawRequest): Promise<{ readonly answer: Answer; readonly differences: readonly Difference[] }>;
}

export function twins(ours: RawClient, theirs: RawClient): Twins {
  return {
    async send(request) {
      const [answer, other] = await Promise.all([ours.send(request), theirs.send(request)]);
      return { answer, differences: jsonDifferences(comparable(answer), comparable(other)) };
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON.
type Json = any;

export function comparable({ status, headers, body }: Answer): Json {
  const warnings = [headers.warning ?? []].flat().flatMap((text) => text.split(/, (?=299 )/));
  return {
    status,
    warnings: warnings.sort(),
    body: body?.kind === "Status" ? comparableStatus(body) : comparableObject(body),
  };
}

/**
 * Upstream's causes have no order, and the message repeats them. A 404 without a name is not
 * compared: the last server in the delegation chain answers it, which is not the apiextensions
 * server in a complete kube-apiserver.
 */
function comparableStatus({ code, reason, message, details, status }: Json): Json {
  if (code === 404 && details?.name === undefined) return undefined;
  const causes: Json[] = details?.causes ?? [];
  const texts = causes
    .map(({ reason: why, field, message: text }: Json) => `${why} · ${field} · ${timeless(text)}`)
    .sort();
  const shown = {
    ...details,
    ...(causes.length > 0 && { causes: texts }),
    ...(details?.uid !== undefined && { uid: "<uid>" }),
  };
  return {
    status,
    code,
    reason,
    details: shown,
    ...(causes.length < 2 && { message: withoutOthers(timeless(message)) }),
  };
}

/**
 * Removes the errors of an apply: upstream reports those before the first undeclared field, in no
 * order, and formats unusual keys differently.
 */
function withoutOthers(text: string | undefined): string | undefined {
  return text?.replace(/(failed to create typed patch object \(.*?\): ).*/s, "$1…");
}

/** Replaces times, uids and resourceVersions in a message that contains an object. */
function timeless(text: string | undefined): string | undefined {
  return text
    ?.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/(resourceVersion\\*":\\*")\d+/g, "$1<version>");
}

function comparableObject(body: Json): Json {
  if (body?.kind === "APIResourceList")
    return { ...body, resources: [...body.resources].sort((a: Json, b: Json) => (a.name < b.name ? -1 : 1)) };
  if (body?.openapi !== undefined || body?.swagger !== undefined) return comparableDocument(body);
  if (body?.metadata === undefined) return body;
  const copy = structuredClone(body);
  for (const object of [copy, ...(copy.items ?? []), ...(copy.rows ?? []).flatMap((row: Json) => row.object ?? [])])
    forgetTimes(object.metadata);
  for (const row of copy.rows ?? []) row.cells = row.cells.map((cell: Json) => (isAge(cell) ? "<age>" : cell));
  return body.kind === "CustomResourceDefinition" ? comparableDefinition(copy) : copy;
}

/** A cell with a duration since a time, or with the time. */
const isAge = (cell: Json): boolean =>
  typeof cell === "string" && /^(?:(?:\d+[smhdy])+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.test(cell);

function forgetTimes(metadata: Json): void {
  for (const field of ["uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"])
    if (metadata[field] !== undefined) metadata[field] = `<${field}>`;
  for (const entry of metadata.managedFields ?? []) if (entry.time !== undefined) entry.time = "<time>";
}

/**
 * Sorts the writes of controllers, which run in no order. The standalone apiextensions server has
 * another name as their manager.
 */
function comparableDefinition(definition: Json): Json {
  const { metadata, status } = definition;
  for (const condition of status?.conditions ?? []) condition.lastTransitionTime = "<time>";
  status?.conditions?.sort((a: Json, b: Json) => (a.type < b.type ? -1 : 1));
  for (const entry of metadata.managedFields ?? [])
    if (entry.subresource === "status") entry.manager = "kube-apiserver";
  metadata.managedFields?.sort((a: Json, b: Json) => (a.manager < b.manager ? -1 : 1));
  return definition;
}

/**
 * The schemas and operations of custom kinds. Descriptions of shared fields are removed, because
 * each server publishes its own.
 */
function comparableDocument({ components, definitions, paths }: Json): Json {
  const schemas = Object.entries(components?.schemas ?? definitions).filter(([, schema]) => isCustom(schema));
  for (const [name, { properties }] of schemas as [string, Json][]) {
    if (name.endsWith("List")) delete properties?.items?.description;
  }
  const operations = Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods as object).sort()]);
  const withoutWords = JSON.parse(
    JSON.stringify(Object.fromEntries(schemas), (key, value) =>
      metaFields.has(key) ? withoutDescription(value) : value,
    ),
  );
  return {
    schemas: withoutWords,
    operations: Object.fromEntries(operations.filter(([path]) => isCustomPath(path as string))),
  };
}

const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

function withoutDescription(value: Json): Json {
  if (typeof value !== "object") return value;
  const { description: _description, ...rest } = value;
  return rest;
}

const table = new URL("../../../src/apimachinery/data/resources.json", import.meta.url);
const ownGroups: ReadonlySet<string> = new Set(
  JSON.parse(readFileSync(table, "utf8")).resources.map(({ group }: Json) => group),
);

function isCustom(schema: Json): boolean {
  const kinds: Json[] = schema["x-kubernetes-group-version-kind"] ?? [];
  return kinds.length === 1 && !ownGroups.has(kinds[0].group);
}

function isCustomPath(path: string): boolean {
  const [, apis, group = ""] = path.split("/");
  return apis === "apis" && group !== "" && !ownGroups.has(group);
}
