/** Fills the placeholders of steps, see contract.ts. */
import { isObject } from "../../src/lib/json/values.ts";

/** Bodies of answers by the IDs of their steps. */
export type Bodies = ReadonlyMap<string, unknown>;

const reference = /\{\{([\w-]+)\.([^{}]+)\}\}/g;
/** For a field that the answer does not have: both servers receive the same text. */
const missing = "missing";

/** The values of the placeholders with `$`. */
export interface Texts {
  /** `$ns` */
  readonly namespace: string;
  /** `$WEBHOOK` and `$CA` */
  readonly webhook?: { readonly url: string; readonly ca: string };
}

/** @param text a path, a header, or a body as JSON */
export function fillText(text: string, { namespace, webhook }: Texts, bodies: Bodies): string {
  let own = text.includes("$ns") ? text.replaceAll("$ns", namespace) : text;
  if (webhook !== undefined && own.includes("$CA"))
    own = own.replaceAll("$WEBHOOK", webhook.url).replaceAll("$CA", webhook.ca);
  if (!own.includes("{{")) return own;
  return own.replace(reference, (_all, id: string, path: string) => fieldText(bodies.get(id), path));
}

/** The value with its placeholders filled. */
export function fillValue<Value>(value: Value, texts: Texts, bodies: Bodies): Value {
  return value === undefined ? value : JSON.parse(fillText(JSON.stringify(value), texts, bodies));
}

/** IDs that a value refers to. */
export function referencesIn(value: unknown): Set<string> {
  return new Set([...(JSON.stringify(value) ?? "").matchAll(reference)].map(([, id]) => id as string));
}

function fieldText(body: unknown, path: string): string {
  let value = body;
  for (const key of path.split("."))
    value = isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[key] : undefined;
  if (value === undefined || value === null) return missing;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return JSON.stringify(text).slice(1, -1);
}
