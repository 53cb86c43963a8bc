/** The log of a collection, and whether it agrees with the answers to writers. */
import type { Collection, State } from "./views.ts";
import { eventTypes, type Segment, type World } from "./world.ts";

export interface LogEntry {
  readonly revision: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  /** For a deletion, the last state. */
  readonly state: State;
  readonly previous: State | undefined;
  /** When the request was sent that made the change, or an earlier time. */
  readonly sentAt: number;
}

export interface Log {
  readonly entries: readonly LogEntry[];
  readonly byKey: ReadonlyMap<string, readonly LogEntry[]>;
  /** Uid → revision. */
  readonly deletedAt: ReadonlyMap<string, number>;
}

export function logOf(world: World, collection: Collection, { events }: Segment): Log {
  const entries: LogEntry[] = [];
  const byKey = new Map<string, LogEntry[]>();
  const deletedAt = new Map<string, number>();
  const sent = new Map(world.writes[collection].map(({ revision, sentAt }) => [revision, sentAt]));
  const deletionSent = new Map(world.deletions.map(({ uid, sentAt }) => [uid, sentAt]));
  let last = world.start;
  let lastSent = Number.NEGATIVE_INFINITY;
  for (const event of events) {
    const type = eventTypes[event & 3] as LogEntry["type"] | "BOOKMARK";
    if (type === "BOOKMARK") continue;
    const revision = Math.floor(event / 4);
    if (revision <= last) world.problem(`the log of ${collection} has ${type} at ${revision} after ${last}`);
    last = revision;
    const state = (type === "DELETED" ? world.removals : world.states)[collection].get(revision) as State;
    const history = byKey.get(state.key) ?? [];
    byKey.set(state.key, history);
    const before = history.at(-1);
    const previous = before?.type === "DELETED" ? undefined : before?.state;
    if (type === "ADDED" ? previous !== undefined : previous === undefined)
      world.problem(
        `the log of ${collection} has ${type} ${state.key} at ${revision}, which ${previous ? "existed" : "did not exist"}`,
      );
    const ofDeletion = type === "DELETED" || state.going ? deletionSent.get(state.uid) : undefined;
    lastSent = sent.get(revision) ?? ofDeletion ?? lastSent;
    const entry = { revision, type, key: state.key, state, previous, sentAt: lastSent };
    entries.push(entry);
    history.push(entry);
    if (type === "DELETED") deletedAt.set(state.uid, revision);
  }
  return { entries, byKey, deletedAt };
}

/** Each change has one write, each write its change, and a deletion has the last state. */
export function checkWrites(world: World, collection: Collection, { entries, deletedAt }: Log): void {
  const written = new Map(world.writes[collection].map((write) => [write.revision, write]));
  const bindings = new Map(world.bindings);
  for (const { revision, type, key, state, previous } of entries) {
    const what = `${collection} ${key} at ${revision}`;
    // A DELETED event, of a deletion or of an object that is no longer selected, has the state
    // before.
    const removal = world.removals[collection].get(revision);
    if (removal !== undefined && removal.text !== previous?.text)
      world.problem(`${what} was removed as ${removal.text}, but was ${previous?.text}`);
    if (type === "DELETED") continue;
    const write = written.get(revision);
    written.delete(revision);
    if (write === undefined) {
      const binding = `${key} ${state.nodeName}`;
      const isBinding = previous?.nodeName === "" && state.nodeName !== "";
      const isMark = previous?.going === false && state.going && deletedAt.has(state.uid);
      if (isBinding) bindings.set(binding, (bindings.get(binding) ?? 0) - 1);
      else if (!isMark) world.problem(`${what}: ${type}, which no client wrote`);
    } else if (write.created !== (type === "ADDED"))
      world.problem(`${what}: ${type}, which was ${write.created ? "" : "not "}created`);
  }
  for (const [revision] of written) world.problem(`the log of ${collection} lacks ${revision}, which was answered`);
  if (collection === "pods")
    for (const [binding, left] of bindings)
      if (left !== 0) world.problem(`${binding} was bound ${left} times more than the log has`);
  for (const deletion of world.deletions) {
    if (deletion.collection === collection && !deletedAt.has(deletion.uid))
      world.problem(`the log of ${collection} lacks the deletion of ${deletion.uid}`);
  }
  for (const uid of world.swept[collection])
    if (!deletedAt.has(uid)) world.problem(`the log of ${collection} lacks the deletion of ${uid} with its collection`);
  // A pod is marked first and removed next. Between the two steps, a second deletion is answered
  // like the first, as by upstream.
  const inOneStep = world.deletions.filter((deletion) => deletion.collection !== "pods");
  if (inOneStep.length !== new Set(inOneStep.map(({ uid }) => uid)).size) world.problem("an object was deleted twice");
}
