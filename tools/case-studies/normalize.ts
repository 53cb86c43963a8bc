/** Makes the results of two servers comparable: what differs between two runs with the same server is replaced. */
import { openNormalizer } from "../differential/normalize.ts";
import type { Study } from "./contract.ts";

/** As Go prints durations, and as programs print them in messages. */
const duration = /\b\d+(?:\.\d+)?(?:ms|µs|s)\b/g;

/** Each server has its own, and this one publishes the whole chain of its serving certificate. */
const pem = /(?:-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?)+/g;

/** @param value the answer to a get, or the items of a list */
export function normalize(
  value: unknown,
  { varying = [], hasGeneratedNames = false }: Pick<Study, "varying" | "hasGeneratedNames"> = {},
): unknown {
  const events = Array.isArray(value) && value.some(isEvent) ? summaryOf(value) : value;
  const normal = walk(openNormalizer(Date.now()).normalize(events), varying);
  return hasGeneratedNames ? withoutNames(normal) : normal;
}

/** The random part of a name. Source: k8s.io/apimachinery@v0.36.0/pkg/util/rand/rand.go */
const generatedPart = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g;

/** Lists are in the order of random names: they get that of their texts. */
function withoutNames(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(generatedPart, "-<name>")
    .replace(/<(uid|rv) \d+>/g, "<$1>");
  const items: unknown = JSON.parse(text);
  if (!Array.isArray(items)) return items;
  return items
    .map((item) => JSON.stringify(item))
    .sort()
    .map((item) => JSON.parse(item) as unknown);
}

interface Event {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

function isEvent(object: Partial<Event>): boolean {
  return object.involvedObject !== undefined && object.reason !== undefined;
}

/** Events are compared by what they say: their names, order and number depend on time. */
function summaryOf(events: readonly Event[]): readonly string[] {
  const texts = events.map(({ involvedObject: { kind, name }, type, reason, message }) =>
    [type, reason, kind, name, message].join(" "),
  );
  return [...new Set(texts)].sort();
}

function walk(value: unknown, varying: readonly string[]): unknown {
  if (typeof value === "string") return value.replace(pem, "<certificates>").replace(duration, "<duration>");
  if (Array.isArray(value)) return value.map((item) => walk(item, varying));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === "resourceVersion" || varying.includes(key)) return [key, "<varying>"];
      return [key, key === "conditions" ? sorted(walk(member, varying)) : walk(member, varying)];
    }),
  );
}

/** Several controllers of a program add conditions, in any order. */
function sorted(conditions: unknown): unknown {
  if (!Array.isArray(conditions)) return conditions;
  const keyOf = (condition: unknown): string => (condition as { type?: string }).type ?? "";
  return conditions.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly apiGroup?: string; readonly subresource?: string };
  readonly requestURI: string;
  readonly responseStatus?: { readonly code?: number };
}

/** @param log a line in JSON for each request @returns how often the user sent a request, by `verb resource → code` */
export function countRequests(log: string, user: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of log.split("\n")) {
    if (line === "") continue;
    const event = JSON.parse(line) as AuditEvent;
    if (event.user.username !== user) continue;
    const key = `${event.verb} ${targetOf(event)} → ${event.responseStatus?.code ?? "no answer"}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function targetOf({ objectRef, requestURI }: AuditEvent): string {
  if (objectRef?.resource === undefined) return requestURI.replace(/\?.*/, "");
  const { resource, apiGroup, subresource } = objectRef;
  return `${resource}${apiGroup ? `.${apiGroup}` : ""}${subresource ? `/${subresource}` : ""}`;
}
