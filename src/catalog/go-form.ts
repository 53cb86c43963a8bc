/**
 * Formats structs as upstream's messages do: with the names, order and zero values of its internal
 * Go types.
 */
import { readTable } from "../apimachinery/data/data-file.ts";

type Part = Readonly<Record<string, unknown>>;

interface GoField {
  readonly goName: string;
  readonly name: string;
  readonly kind: string;
}

const fieldsByType = new Map<string, readonly GoField[]>();

function fieldsOf(type: string): readonly GoField[] {
  const cached = fieldsByType.get(type);
  if (cached !== undefined) return cached;
  const table: Readonly<Record<string, string>> = readTable("go-forms.json"); // When a message first contains a struct.
  const fields = (table[type] ?? "").split(";").map((line) => {
    const [goName = "", name = "", kind = ""] = line.split(" ");
    return { goName, name, kind };
  });
  fieldsByType.set(type, fields);
  return fields;
}

/**
 * The members of an internal struct of upstream, by Go field name.
 *
 * @param type the Go name of an internal type in the spec of a pod, such as `SecurityContext`
 * @param value the value at v1; undefined is the zero value
 * @param outer the enclosing struct, in which v1 has some fields of the internal type
 */
export function goForm(type: string, value: Part | undefined, outer?: Part): Record<string, unknown> {
  const form: Record<string, unknown> = {};
  for (const { goName, name, kind } of fieldsOf(type)) {
    const member =
      kind === "omit" ? metadataOf(value)[name] : name.startsWith("^") ? outer?.[name.slice(1)] : value?.[name];
    const shown = formOf(kind, member ?? undefined, value);
    if (shown !== undefined) form[goName] = shown;
  }
  return form;
}

/** The metadata of a template, whose fields Go formats as fields of the template. */
const metadataOf = (value: Part | undefined): Part => (value?.metadata ?? {}) as Part;

/** The forms of a list of structs; null for an absent list. */
export function goForms(type: string, list: readonly Part[] | undefined): unknown {
  return formOf(`[]${type}`, list, undefined);
}

function formOf(kind: string, value: unknown, outer: Part | undefined): unknown {
  if (kind.startsWith("*")) return value === undefined ? null : formOf(kind.slice(1), value, outer);
  if (kind.startsWith("[]"))
    return value === undefined ? null : (value as unknown[]).map((item) => formOf(kind.slice(2), item, outer));
  if (kind.startsWith("map")) return value === undefined ? null : formOfMap(kind.slice(3), value as Part);
  switch (kind) {
    case '""':
      return value ?? "";
    case "0":
    case "0IntOrString":
      return value ?? 0;
    case "0Quantity":
      return value ?? "0";
    case "false":
      return value ?? false;
    case "null":
      return value ?? null;
    case "omit":
      return isEmpty(value) ? undefined : value;
    case "metaLabelSelector":
      return formOfSelector(value as Part);
    default:
      return goForm(kind, value as Part | undefined, outer);
  }
}

const isEmpty = (value: unknown): boolean => !value || (typeof value === "object" && Object.keys(value).length === 0);

function formOfMap(kind: string, value: Part): Part {
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, member]) => [key, formOf(kind, member, undefined)]));
}

function formOfSelector({ matchLabels, matchExpressions }: Part): Part {
  const requirements = ((matchExpressions ?? []) as Part[]).map(({ key = "", operator = "", values }) => {
    return { key, operator, ...((values as unknown[] | undefined)?.length ? { values } : undefined) };
  });
  const labels = Object.keys(matchLabels ?? {}).length > 0 && { matchLabels: formOfMap('""', matchLabels as Part) };
  return { ...labels, ...(requirements.length > 0 && { matchExpressions: requirements }) };
}
