/** The fields that differ between two states of an object. */
import { encodeAny } from "../../lib/json/encode-any.ts";
import { deepEqual, isObject } from "../../lib/json/values.ts";
import type { ChangedField } from "./contract.ts";

/** Fields of one change that are listed. */
const fieldsMax = 20;
/** Characters of one value. */
const valueMax = 100;
const hidden = "(hidden)";

/** Fields that repeat the rest of the object, or change with every write. */
const ignoredMetadata = new Set(["managedFields", "resourceVersion"]);
/** It repeats the object, and so also the values of a Secret. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Compares two states of an object. Values of Secrets are hidden.
 *
 * @returns at most 20 fields, and how many others differ
 */
export function changedFields(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { readonly fields: readonly ChangedField[]; readonly moreFields: number } {
  const isSecret = after.kind === "Secret" && after.apiVersion === "v1";
  const fields: ChangedField[] = [];
  let moreFields = 0;
  const add = (path: string, old: unknown, now: unknown): void => {
    if (fields.length === fieldsMax) {
      moreFields++;
      return;
    }
    const text = isSecret && /^(?:data|stringData)\b/.test(path) ? (): string => hidden : valueText;
    fields.push({
      path,
      before: old === undefined ? undefined : text(old),
      after: now === undefined ? undefined : text(now),
    });
  };
  compare("", comparable(before), comparable(after), add);
  return { fields, moreFields };
}

function comparable(object: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !ignoredMetadata.has(name)));
  const { annotations } = kept;
  if (isObject(annotations)) {
    const { [lastApplied]: _repeated, ...others } = annotations;
    if (Object.keys(others).length === 0) delete kept.annotations;
    else kept.annotations = others;
  }
  return { ...object, metadata: kept };
}

type Add = (path: string, before: unknown, after: unknown) => void;

/** Objects nest at most 1000 levels, so this can recurse. */
function compare(path: string, before: unknown, after: unknown, add: Add): void {
  if (deepEqual(before, after)) return;
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === undefined || now === undefined || old.isList !== now.isList) return add(path, before, after);
  for (const key of new Set([...old.members.keys(), ...now.members.keys()])) {
    const at = old.isList ? `${path}[${key}]` : memberPath(path, key);
    compare(at, old.members.get(key), now.members.get(key), add);
  }
}

function memberPath(path: string, key: string): string {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key);
  if (!isPlain) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The members of an object, or the items of a list by a name that stays the same when others are inserted. */
function membersOf(
  value: unknown,
): { readonly isList: boolean; readonly members: ReadonlyMap<string, unknown> } | undefined {
  if (isObject(value)) return { isList: false, members: new Map(Object.entries(value)) };
  if (!Array.isArray(value)) return undefined;
  for (const key of ["name", "type", "uid"]) {
    const members = new Map(value.map((item) => [isObject(item) ? item[key] : undefined, item]));
    const isKeyed = members.size === value.length && [...members.keys()].every((one) => typeof one === "string");
    if (isKeyed) return { isList: true, members: members as Map<string, unknown> };
  }
  return { isList: true, members: new Map(value.map((item, index) => [String(index), item])) };
}

function valueText(value: unknown): string {
  const text = encodeAny(value);
  return text.length <= valueMax ? text : `${text.slice(0, valueMax)}…`;
}
