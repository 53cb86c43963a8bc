/**
 * Removes paths from OpenAPI v2 documents, and the definitions that only they use. Source:
 * `FilterSpecByPaths` of `k8s.io/kube-openapi/pkg/aggregator`.
 */
import type { Json } from "../json/values.ts";
import { documentShape, parameterShape, pathItemShape, schemaShape } from "./document-shape.ts";
import { mapReferences, prefixes, visitReferences } from "./references.ts";
import type { Shape } from "./shape.ts";

/**
 * Keeps the paths that satisfy `keep`, and the definitions that they reference, directly or
 * indirectly. Definitions that no path references are kept, too.
 *
 * @param document in its canonical form
 */
export function filterPaths(document: Json, keep: (path: string) => boolean): Json {
  if (document.paths === undefined) return document;
  const members = Object.entries(document.paths as Json);
  const paths = Object.fromEntries(members.filter(([name]) => !name.startsWith("/") || keep(name)));
  const filtered = { ...document, paths };
  if (document.definitions === undefined) return filtered;
  const [before, after] = [usedDefinitions(document), usedDefinitions(filtered)];
  const definitions = Object.entries(document.definitions as Json).filter(
    ([name]) => after.has(name) || !before.has(name),
  );
  return { ...filtered, definitions: Object.fromEntries(definitions) };
}

/** The names of definitions that paths reference, directly or indirectly. */
function usedDefinitions(document: Json): Set<string> {
  const found = new Set<string>();
  const waiting: [value: unknown, shape: Shape][] = [];
  const visited = new Set<string>();
  const follow = (reference: string): void => {
    if (reference.startsWith(prefixes.definitions)) found.add(reference.slice(prefixes.definitions.length));
    if (visited.has(reference)) return;
    visited.add(reference);
    for (const [section, shape] of sections) {
      const target = reference.startsWith(prefixes[section])
        ? memberOf(document[section], reference.slice(prefixes[section].length))
        : undefined;
      if (target !== undefined) waiting.push([target, shape]);
    }
  };
  for (const item of Object.values((document.paths ?? {}) as Json)) visitReferences(item, pathItemShape, follow);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visitReferences(...next, follow);
  return found;
}

const sections = [
  ["definitions", schemaShape],
  ["parameters", parameterShape],
] as const;

function memberOf(object: unknown, name: string): unknown {
  return object !== undefined && Object.hasOwn(object as Json, name) ? (object as Json)[name] : undefined;
}

/**
 * Renames definitions or parameters, and references to them.
 *
 * @param names new names by old ones
 */
export function rename(document: Json, section: keyof typeof prefixes, names: ReadonlyMap<string, string>): Json {
  if (names.size === 0) return document;
  const prefix = prefixes[section];
  const references = new Map([...names].map(([from, to]) => [prefix + from, prefix + to]));
  const renamed = mapReferences(document, documentShape, (one) => references.get(one) ?? one) as Json;
  const members = Object.entries((renamed[section] ?? {}) as Json);
  return { ...renamed, [section]: Object.fromEntries(members.map(([name, one]) => [names.get(name) ?? name, one])) };
}
