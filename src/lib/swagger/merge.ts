/**
 * Merges OpenAPI v2 documents of other servers into this server's. Source:
 * `MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters` of
 * `k8s.io/kube-openapi/pkg/aggregator`.
 */
import { encodeSorted } from "../json/encode-any.ts";
import { isObject, type Json } from "../json/values.ts";
import { filterPaths, rename } from "./filter-paths.ts";

/** The parts of the merged document by name. A part is undefined if it is not a candidate for a conflict. */
export interface MergeTarget {
  readonly paths: Map<string, Json | undefined>;
  readonly definitions: Map<string, Json | undefined>;
  readonly parameters: Map<string, Json | undefined>;
  /** By name of a definition or parameter, those that were renamed. {@link mergeDocument} fills it. */
  readonly renamed: { readonly definitions: Map<string, Chain>; readonly parameters: Map<string, Chain> };
}

/** The parts `name_v2`, `name_v3` … without a gap. */
interface Chain {
  last: number;
  /** The first number of each content. */
  readonly numbers: Map<string, number>;
}

/** A target without renamed parts. */
export function mergeTarget(parts: Omit<MergeTarget, "renamed">): MergeTarget {
  return { ...parts, renamed: { definitions: new Map(), parameters: new Map() } };
}

const kinds = "x-kubernetes-group-version-kind";

/**
 * Adds the parts of a document. Existing paths stay. A definition or parameter that differs from
 * the existing one of the same name gets another name, such as `Pod_v2`.
 *
 * @param target the parts that {@link mayConflict} names are defined
 * @param source in its canonical form
 */
export function mergeDocument(target: MergeTarget, source: Json): void {
  const names = Object.keys((source.paths ?? {}) as Json).filter((name) => name.startsWith("/"));
  const added = names.filter((name) => !target.paths.has(name));
  if (added.length === 0) return;
  const filtered = added.length < names.length ? filterPaths(source, (name) => !target.paths.has(name)) : source;
  const named = withFreeNames(withFreeNames(filtered, "definitions", target), "parameters", target);
  for (const [name, definition] of Object.entries((named.definitions ?? {}) as Record<string, Json>)) {
    const existing = target.definitions.get(name);
    target.definitions.set(name, existing === undefined ? definition : withKindsOf(existing, definition));
  }
  for (const [name, parameter] of Object.entries((named.parameters ?? {}) as Record<string, Json>)) {
    if (!target.parameters.has(name)) target.parameters.set(name, parameter);
  }
  for (const name of added) target.paths.set(name, (named.paths as Record<string, Json>)[name]);
}

/**
 * Whether a part of this server can have the same name as a part of the documents.
 *
 * @returns a function of the name of the part
 */
export function mayConflict(
  documents: readonly Json[],
  section: "definitions" | "parameters",
): (name: string) => boolean {
  const names = new Set(documents.flatMap((document) => Object.keys((document[section] ?? {}) as Json)));
  return (name) => names.has(name) || /_v\d+$/.test(name);
}

function withFreeNames(source: Json, section: "definitions" | "parameters", target: MergeTarget): Json {
  const existing = target[section];
  const own = (source[section] ?? {}) as Record<string, Json>;
  const taken = new Set<string>();
  const renames = new Map<string, string>();
  for (const [name, part] of Object.entries(own)) {
    const other = existing.get(name);
    const content = contentOf(part, section);
    if (!existing.has(name) || (other !== undefined && contentOf(other, section) === content)) continue;
    const { last, numbers } = chainOf(name, section, target);
    const isFree = (one: string): boolean => !existing.has(one) && !taken.has(one) && !Object.hasOwn(own, one);
    let count = numbers.get(content);
    if (count === undefined) {
      for (count = last + 1; !isFree(`${name}_v${count}`); ) count += 1;
      taken.add(`${name}_v${count}`);
    }
    renames.set(name, `${name}_v${count}`);
  }
  return rename(source, section, renames);
}

/** Notes parts that were added since the last call, so that each is read once, however many documents there are. */
function chainOf(name: string, section: "definitions" | "parameters", target: MergeTarget): Chain {
  const chain = target.renamed[section].get(name) ?? { last: 1, numbers: new Map() };
  target.renamed[section].set(name, chain);
  const next = (): string => `${name}_v${chain.last + 1}`;
  for (; target[section].has(next()); chain.last++) {
    const part = target[section].get(next());
    if (part === undefined) continue;
    const content = contentOf(part, section);
    if (!chain.numbers.has(content)) chain.numbers.set(content, chain.last + 1);
  }
  return chain;
}

/** Equal for parts that need no different names: the kinds of definitions do not count. */
function contentOf(part: Json, section: "definitions" | "parameters"): string {
  return encodeSorted(section === "definitions" ? { ...part, [kinds]: undefined } : part);
}

/** Adds the kinds that only the other definition names. */
function withKindsOf(existing: Json, other: Json): Json {
  const [own, more] = [existing[kinds] ?? [], other[kinds] ?? []];
  if (!isKindList(own) || !isKindList(more)) return existing;
  const all = new Map([...own, ...more].reverse().map((one) => [keyOf(one), one]));
  if (all.size === new Set(own.map(keyOf)).size) return existing;
  return { ...existing, [kinds]: [...all.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}

function isKindList(value: unknown): value is readonly Json[] {
  return Array.isArray(value) && value.every(isObject);
}

function keyOf({ group, version, kind }: Json): string {
  return `${group}/${version}.${kind}`;
}
