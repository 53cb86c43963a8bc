/** One request to two servers, and what they say differently. */

import { readFileSync } from "node:fs";
import { type Difference, jsonDifferences } from "../../testing/json-differences.ts";
import type { Answer, RawClient, RawRequest } from "../../testing/raw-client.ts";

export interface Twins {
  /** @returns our answer, and what upstream's has otherwise; times, uids and versions aside */
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

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at as JSON.
type Json = any;

function comparable({ status, headers, body }: Answer): Json {
  const warnings = [headers.warning ?? []].flat().flatMap((text) => text.split(/, (?=299 )/));
  return { status, warnings: warnings.sort(), body: body?.kind === "Status" ? comparableStatus(body) : comparableObject(body) };
}

/** Causes come in no order upstream, and the message says them once more. */
function comparableStatus({ code, reason, message, details }: Json): Json {
  const causes: Json[] = details?.causes ?? [];
  const texts = causes.map(({ reason: why, field, message: text }: Json) => `${why} · ${field} · ${text}`).sort();
  return { code, reason, details: { ...details, causes: texts }, ...(causes.length < 2 && { message }) };
}

function comparableObject(body: Json): Json {
  if (body?.kind === "APIResourceList") return { ...body, resources: [...body.resources].sort((a: Json, b: Json) => (a.name < b.name ? -1 : 1)) };
  if (body?.openapi !== undefined || body?.swagger !== undefined) return comparableDocument(body);
  if (body?.metadata === undefined) return body;
  const copy = structuredClone(body);
  const { metadata } = copy;
  for (const field of ["uid", "creationTimestamp", "resourceVersion"]) if (metadata[field] !== undefined) metadata[field] = `<${field}>`;
  for (const entry of metadata.managedFields ?? []) entry.time = "<time>";
  return body.kind === "CustomResourceDefinition" ? comparableDefinition(copy) : copy;
}

/** Controllers come by in no order; those of the server that stands alone have its program's name. */
function comparableDefinition(definition: Json): Json {
  const { metadata, status } = definition;
  for (const condition of status?.conditions ?? []) condition.lastTransitionTime = "<time>";
  status?.conditions?.sort((a: Json, b: Json) => (a.type < b.type ? -1 : 1));
  for (const entry of metadata.managedFields ?? []) if (entry.subresource === "status") entry.manager = "kube-apiserver";
  metadata.managedFields?.sort((a: Json, b: Json) => (a.manager < b.manager ? -1 : 1));
  return definition;
}

/** What is published of the kinds: what all servers share is told in the words of the server, and more of it than upstream's tells alone. */
function comparableDocument({ components, definitions, paths }: Json): Json {
  const schemas = Object.entries(components?.schemas ?? definitions).filter(([, schema]) => isCustom(schema));
  for (const [, { properties }] of schemas as [string, Json][]) {
    delete properties?.metadata?.description;
    delete properties?.items?.description;
  }
  const operations = Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods as object).sort()]);
  return { schemas: Object.fromEntries(schemas), operations: Object.fromEntries(operations.filter(([path]) => isCustomPath(path as string))) };
}

const table = new URL("../../data/resources.json", import.meta.url);
const ownGroups: ReadonlySet<string> = new Set(JSON.parse(readFileSync(table, "utf8")).resources.map(({ group }: Json) => group));

function isCustom(schema: Json): boolean {
  const kinds: Json[] = schema["x-kubernetes-group-version-kind"] ?? [];
  return kinds.length === 1 && !ownGroups.has(kinds[0].group);
}

function isCustomPath(path: string): boolean {
  const [, apis, group = ""] = path.split("/");
  return apis === "apis" && group !== "" && !ownGroups.has(group);
}
