/** Parts of sequences that several areas use. */
import { changed } from "../../../test/support/write-golden.ts";
import { changeMetadata, changeObject } from "../change-object.ts";
import type { Step } from "../contract.ts";
import type { Random } from "../random.ts";
import type { Kind, Sample } from "../samples.ts";

type Json = Record<string, unknown>;

export const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The path of a kind's object. */
export function pathOf({ collection, namespaced }: Kind, name = "a"): string {
  return `${collection}/${namespaced ? "" : "$ns-"}${name}`;
}

/** With another name than the sample. */
export function named(object: Json, { namespaced }: Kind, name: string): Json {
  return { ...object, metadata: { ...(object.metadata as object), name: `${namespaced ? "" : "$ns-"}${name}` } };
}

/** Objects with this resourceVersion, which a reference may be. */
export function atVersion(object: Json, resourceVersion: string): Json {
  return { ...object, metadata: { ...(object.metadata as object), resourceVersion } };
}

export interface ChangeOptions {
  /** The share of unchanged objects. */
  readonly unchanged?: number;
}

/** A sample with a known change, a random one, both, or none. */
export function changedSample(
  { object, changes }: Sample,
  { schema }: Kind,
  verb: "create" | "update" | "status",
  random: Random,
  { unchanged = 0.3 }: ChangeOptions = {},
): Json {
  if (random.chance(unchanged)) return object;
  let next = object;
  const rows = changes[verb];
  if (rows.length > 0 && random.chance(0.6)) next = tryChange(next, random.pick(rows));
  if (next !== object && random.chance(0.5)) return next;
  if (random.chance(0.15)) return changeMetadata(next, random);
  for (let times = 1 + random.below(2); times > 0; times--) next = changeObject(next, schema, random);
  return next;
}

/** Changes of stored objects may need fields that the sample lacks. */
function tryChange(object: Json, change: Sample["changes"]["create"][number]): Json {
  try {
    return changed(object, change);
  } catch {
    return object;
  }
}

/** @param parameters `name=value`; those without a text are left out */
export function query(...parameters: readonly (string | undefined | false)[]): string {
  const set = parameters.filter((one) => typeof one === "string");
  return set.length === 0 ? "" : `?${set.join("&")}`;
}

const validations = ["Strict", "Warn", "Ignore", "Other", ""];
const dryRuns = ["All", "All", "All", "None"];
const managers = ["m", "kubectl", "x".repeat(129), "", "a%0ab"];

/** The query of a write: mostly none. */
export function writeQuery(random: Random, { isDry = false }: { readonly isDry?: boolean } = {}): string {
  return query(
    (isDry || random.chance(0.08)) && `dryRun=${isDry ? "All" : random.pick(dryRuns)}`,
    random.chance(0.25) && `fieldValidation=${random.pick(validations)}`,
    random.chance(0.1) && `fieldManager=${random.pick(managers)}`,
    random.chance(0.04) && "pretty=true",
  );
}

/** A write that creates a valid object. */
export function create(kind: Kind, object: Json, id?: string): Step {
  return { ...(id !== undefined && { id }), method: "POST", path: kind.collection, body: object };
}
