/** Compares what all observers saw with the log. */
import { checkWrites, type Log, type LogEntry, logOf } from "./log.ts";
import { collections, type View } from "./views.ts";
import { eventTypes, type Known, type Segment, type World } from "./world.ts";

/** An upper bound for the size of a change in history. */
const changeBytesMax = 4096;

/**
 * @param logSegments the events of the watches that were never cut, one for each collection
 * @returns the problems
 */
export function checkWorld(
  world: World,
  logSegments: readonly Segment[],
  limits: { historyMs: number; historyBytesMax: number },
): string[] {
  const logs = new Map(
    collections.map((collection, index) => [collection, logOf(world, collection, logSegments[index] as Segment)]),
  );
  const of = (view: View): Log => logs.get(view.collection) as Log;
  for (const [collection, log] of logs) checkWrites(world, collection, log);
  const least = leastRevisions(world, [...logs.values()]);
  for (const collection of collections) {
    for (const { revision, known } of world.writes[collection])
      if (revision <= least(known))
        world.problem(`a write got ${revision}, though ${least(known)} had been answered before`);
  }
  for (const { collection, uid, known } of world.deletions) {
    const revision = logs.get(collection)?.deletedAt.get(uid);
    if (revision !== undefined && revision <= least(known))
      world.problem(`${uid} was deleted at ${revision}, though ${least(known)} had been answered before`);
  }
  checkLists(world, logs, least);
  for (const got of world.got) checkGet(world, logs.get(got.collection) as Log, got, least(got.known));
  const expected = new Map<View, LogEntry[]>();
  for (const segment of world.segments) {
    const { view } = segment;
    if (!expected.has(view)) expected.set(view, shownIn(view, of(view)));
    checkSegment(world, segment, expected.get(view) as LogEntry[]);
  }
  checkCompacted(world, [...logs.values()], limits);
  return world.problems;
}

/** The newest revision in the answers that were known, including deletions. */
function leastRevisions({ deletions }: World, logs: readonly Log[]): (known: Known) => number {
  const upTo = [0];
  for (const { uid } of deletions)
    upTo.push(Math.max(upTo.at(-1) as number, ...logs.map(({ deletedAt }) => deletedAt.get(uid) ?? 0)));
  return (known) => Math.max(known.revision, upTo[known.deletions] as number);
}

/**
 * The events that a watch of the view has: an object that is newly selected is ADDED, and one that
 * is no longer selected DELETED.
 */
function shownIn({ selects }: View, { entries }: Log): LogEntry[] {
  const shown: LogEntry[] = [];
  for (const entry of entries) {
    const before = entry.previous !== undefined && selects(entry.previous);
    const now = entry.type !== "DELETED" && selects(entry.state);
    if (now) shown.push({ ...entry, type: before ? "MODIFIED" : "ADDED" });
    else if (before) shown.push({ ...entry, type: "DELETED" });
  }
  return shown;
}

const show = (event: number): string => `${eventTypes[event & 3]} at ${Math.floor(event / 4)}`;
const showEntry = (entry: LogEntry | undefined): string =>
  entry === undefined ? "nothing" : `${entry.type} at ${entry.revision}`;

function checkSegment(world: World, segment: Segment, expected: readonly LogEntry[]): void {
  const { events, from } = segment;
  const what = `watch ${segment.view.watch} ${segment.view.query} from ${from}`;
  let at = 0;
  let last = from ?? 0;
  if (from === undefined) {
    if (segment.initialEnd === Number.POSITIVE_INFINITY) return;
    at = segment.initialEnd as number;
    last = Math.floor((events[at++] as number) / 4);
    checkInitial(world, what, events.slice(0, at - 1), expected, last);
  }
  let next = expected.findIndex(({ revision }) => revision > last);
  if (next < 0) next = expected.length;
  for (; at < events.length; at++) {
    const event = events[at] as number;
    const revision = Math.floor(event / 4);
    const entry = expected[next];
    if (eventTypes[event & 3] === "BOOKMARK") {
      if (revision < last) return world.problem(`${what}: a bookmark at ${revision} after ${last}`);
      if (entry !== undefined && entry.revision <= revision)
        return world.problem(`${what}: a bookmark at ${revision} instead of ${showEntry(entry)}`);
      last = revision;
    } else {
      if (entry === undefined || entry.type !== eventTypes[event & 3] || entry.revision !== revision)
        return world.problem(`${what}: ${show(event)} after ${last} instead of ${showEntry(entry)}`);
      last = revision;
      next += 1;
    }
  }
}

/** Events before the bookmark must result in the state at its revision. */
function checkInitial(
  world: World,
  what: string,
  events: readonly number[],
  expected: readonly LogEntry[],
  version: number,
): void {
  const keys = new Map<number, string>();
  const want = new Map<string, number>();
  for (const { type, revision, key } of expected) {
    if (revision > version) break;
    keys.set(revision, key);
    if (type === "DELETED") want.delete(key);
    else want.set(key, revision);
  }
  const got = new Map<string, number>();
  for (const event of events) {
    const revision = Math.floor(event / 4);
    const key = keys.get(revision);
    if (key === undefined) return world.problem(`${what}: ${show(event)} among the initial events`);
    const type = eventTypes[event & 3];
    if (got.has(key) !== (type !== "ADDED"))
      return world.problem(
        `${what}: ${show(event)} among the initial events, of an object that ${got.has(key) ? "exists" : "does not exist"}`,
      );
    if (type === "DELETED") got.delete(key);
    else got.set(key, revision);
  }
  const texts = [want, got].map((state) => [...state].map(([key, revision]) => `${key}@${revision}`).sort());
  if (String(texts[0]) !== String(texts[1]))
    world.problem(`${what}: initial events up to ${version} lead to ${texts[1]}, not ${texts[0]}`);
}

function checkLists(world: World, logs: ReadonlyMap<string, Log>, least: (known: Known) => number): void {
  for (const [collection, { entries }] of logs) {
    const state = new Map<string, LogEntry>();
    let next = 0;
    const lists = world.listed
      .filter(({ view }) => view.collection === collection)
      .sort((a, b) => a.revision - b.revision);
    for (const { what, view, revision, known, after, until, items } of lists) {
      for (; next < entries.length && (entries[next] as LogEntry).revision <= revision; next++) {
        const entry = entries[next] as LogEntry;
        if (entry.type === "DELETED") state.delete(entry.key);
        else state.set(entry.key, entry);
      }
      if (known !== undefined && revision < least(known))
        world.problem(`${what}: at ${revision}, though ${least(known)} was known`);
      const covered = [...state.values()].filter(
        ({ key, state }) => key > after && (until === undefined || key <= until) && view.selects(state),
      );
      const want = covered.map((entry) => `${entry.key}@${entry.revision}`).sort(byKey);
      if (String(want) !== String(items))
        world.problem(`${what}: at ${revision} after "${after}" it has ${items}, not ${want}`);
    }
  }
}

function byKey(a: string, b: string): number {
  const [one, other] = [a.split("@")[0] as string, b.split("@")[0] as string];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A get must return the state at some revision not older than what was known. */
function checkGet(
  world: World,
  { byKey }: Log,
  { collection, key, revision }: World["got"][number],
  least: number,
): void {
  const history = byKey.get(key) ?? [];
  const later = history.filter((entry) => entry.revision > least);
  const at = history.filter((entry) => entry.revision <= least).at(-1);
  const possible = [at, ...later].some((entry) => {
    if (entry === undefined || entry.type === "DELETED") return revision === 0;
    return entry.revision === revision;
  });
  if (!possible)
    world.problem(
      `get of ${collection} ${key}: ${revision === 0 ? "not found" : `at ${revision}`}, though ${least} was known`,
    );
}

/** The server's own writes, which the model does not know: the Lease of its identity is renewed so often. */
const ownWritesMs = 10_000;

/** History may be removed only if it is too old or too large. */
function checkCompacted(
  world: World,
  logs: readonly Log[],
  { historyMs, historyBytesMax }: { historyMs: number; historyBytesMax: number },
): void {
  const changes = logs.flatMap(({ entries }) => entries).sort((a, b) => a.revision - b.revision);
  const revisions = changes.map((change) => change.revision);
  for (const { what, revision, at, answered } of world.compacted) {
    const first = revisions.findIndex((one) => one > revision);
    const isOld = first >= 0 && at - (changes[first] as LogEntry).sentAt >= historyMs - ownWritesMs;
    const since = revisions.filter((one) => one > revision && one <= answered + world.clients.length * 10).length;
    if (!isOld && since * changeBytesMax <= historyBytesMax)
      world.problem(
        `${what}: 410 for ${revision} after ${first < 0 ? 0 : at - (changes[first] as LogEntry).sentAt} ms and ${since} changes, at ${answered}`,
      );
  }
}
