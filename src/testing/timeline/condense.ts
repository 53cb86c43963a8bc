/** Shortens a timeline for its reader: polls become one entry, and unrelated work of the server is left out. */
import type { TimelineChange, TimelineEntry, TimelineFault, TimelineRequest } from "./contract.ts";

/** An entry, and equal ones after it. */
export interface Repeated {
  readonly entry: TimelineEntry;
  /** How many there are, the entry included. */
  times: number;
  /** When the last one began. */
  lastAt: number;
  /** The longest duration of them. */
  durationMs: number | undefined;
}

/** What {@link condense} keeps. */
export interface Condensed {
  readonly entries: readonly Repeated[];
  /** Writes of the server itself that are left out. */
  readonly omitted: number;
}

/**
 * Folds equal requests that changed nothing, and leaves out writes of the server that have nothing to do with requests,
 * and hits of faults that a request shows.
 */
export function condense(entries: readonly TimelineEntry[]): Condensed {
  const requests = entries.filter((entry) => entry.kind === "request");
  const isRelated = relatedTo(requests);
  const related = entries.filter((entry) => entry.kind !== "server" || isRelated(entry.change));
  const hits = new Set(requests.map(({ fault, path }) => `${fault} ${path}`));
  const others = related.filter((entry) => entry.kind !== "fault" || !hits.has(hitOf(entry)));
  return { entries: fold(others), omitted: entries.length - related.length };
}

/**
 * Equal requests with equal answers are one entry, as long as nothing else happens than other requests that
 * changed nothing: two polls that alternate are two entries.
 */
function fold(entries: readonly TimelineEntry[]): readonly Repeated[] {
  const folded: Repeated[] = [];
  const polls = new Map<string, Repeated>();
  for (const entry of entries) {
    const isPoll = entry.kind === "request" && changedNothing(entry);
    if (!isPoll) polls.clear();
    const key = isPoll ? keyOf(entry) : "";
    const former = polls.get(key);
    if (isPoll && former !== undefined) {
      former.times++;
      former.lastAt = entry.at;
      former.durationMs = Math.max(former.durationMs ?? 0, entry.durationMs ?? 0);
      continue;
    }
    const durationMs = entry.kind === "request" ? entry.durationMs : undefined;
    const one = { entry, times: 1, lastAt: entry.at, durationMs };
    folded.push(one);
    if (isPoll) polls.set(key, one);
  }
  return folded;
}

/** Whether it is over, and neither an object nor a client that watches was affected. */
function changedNothing({ durationMs, events = 0, changes, moreChanges }: TimelineRequest): boolean {
  return durationMs !== undefined && events + changes.length + moreChanges === 0;
}

function keyOf({ sequence, at, durationMs, ...request }: TimelineRequest): string {
  return JSON.stringify(request);
}

/** As a request shows it, with its path: `fault-1 conflict /api/v1/…`. */
function hitOf({ rule, action, text }: TimelineFault): string {
  return action === "hit" ? `${rule} ${text.replace(/ for \S+/, "")}` : "";
}

/** The objects that the server creates in each namespace, as `kind/name`. */
const ofEachNamespace = new Set(["ConfigMap/kube-root-ca.crt", "ServiceAccount/default"]);

/** Whether requests name or change an object, or it is in their namespace and not in every one. */
function relatedTo(requests: readonly TimelineRequest[]): (change: TimelineChange) => boolean {
  const names = new Set(requests.flatMap(namesIn));
  const namespaces = new Set(requests.map(({ namespace }) => namespace).filter((namespace) => namespace !== ""));
  return (change) => {
    const { kind, namespace, name } = change;
    return names.has(nameOf(change)) || (namespaces.has(namespace) && !ofEachNamespace.has(`${kind}/${name}`));
  };
}

/** Of the object in the path, and of those that it changed. */
function namesIn({ group, resource, namespace, name, changes }: TimelineRequest): string[] {
  const isNamespace = resource === "namespaces" && group === "";
  return [nameOf({ namespace: isNamespace ? "" : namespace, name }), ...changes.map(nameOf)];
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
