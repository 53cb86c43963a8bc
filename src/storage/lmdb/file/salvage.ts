/**
 * Decides which objects a store has from the entries found in its file, and reports objects that
 * cannot be recovered or may be outdated.
 */
import { type Expiry, revisionOf } from "../../embedded/ledger.ts";
import { integerKey } from "../keys.ts";
import type { FoundChange, FoundPosition } from "./found-entries.ts";
import type { StoreContents } from "./read-store.ts";
import type { KeyRange } from "./tree-walk.ts";

/** An object that cannot be recovered. */
export interface LeftOut {
  /** Undefined when the key is unreadable, too. */
  readonly key: string | undefined;
  /** Revision of the lost state; undefined when unknown. */
  readonly revision: number | undefined;
  readonly problem: string;
  /** The latest older state that is readable. */
  readonly older: FoundChange | undefined;
}

/** An object that is recovered, but a later state or its deletion may be lost. */
export interface Uncertain {
  readonly key: string;
  readonly revision: number;
  readonly problem: string;
}

/** The result of a recovery. */
export interface Salvage {
  /** The recovered objects, one per key, ordered by position. */
  readonly puts: readonly FoundChange[];
  /** The expiries of `puts`, and of the older states in `leftOut`. */
  readonly expiries: readonly Expiry[];
  readonly leftOut: readonly LeftOut[];
  /** A subset of `puts`. */
  readonly uncertain: readonly Uncertain[];
  /** The highest revision in the file. */
  readonly revision: number;
}

/** The contents, and facts derived from them. */
interface Evidence extends StoreContents {
  readonly latest: ReadonlyMap<string, FoundChange>;
  /** Keys whose index entry is damaged. */
  readonly withoutPosition: ReadonlySet<string>;
  /** The log is completely readable above this position; 0 when all of it is readable. */
  readonly newestLost: number;
}

type Fate =
  | { readonly put: FoundChange; readonly doubt?: string }
  | { readonly lost: string; readonly position?: number };

/** Recovers the objects of a store. */
export function salvage(contents: StoreContents): Salvage {
  const latest = latestChanges(contents);
  const withoutPosition = new Set(
    contents.damage.flatMap(({ tree, key }) => (tree === "current" && key !== undefined ? [key] : [])),
  );
  const evidence: Evidence = { ...contents, latest, withoutPosition, newestLost: newestLost(contents) };
  const puts: FoundChange[] = [];
  const uncertain: Uncertain[] = [];
  const lost: { key: string; problem: string; position: number | undefined }[] = [];
  const takenPositions = new Set<number>();
  for (const key of new Set([...contents.positions.keys(), ...latest.keys(), ...withoutPosition])) {
    const fate = fateOf(key, evidence);
    if (fate === undefined) continue;
    if ("put" in fate) {
      puts.push(fate.put);
      takenPositions.add(fate.put.position);
      if (fate.doubt !== undefined)
        uncertain.push({ key, revision: revisionOf(fate.put.position), problem: fate.doubt });
    } else {
      lost.push({ key, problem: fate.lost, position: fate.position });
      if (fate.position !== undefined) takenPositions.add(fate.position);
    }
  }
  const older = olderStates(contents, lost);
  const leftOut = lost.map(({ key, problem, position }): LeftOut => {
    return { key, revision: position && revisionOf(position), problem, older: older.get(key) };
  });
  return {
    puts: puts.sort((a, b) => a.position - b.position),
    expiries: expiriesOf(contents, [...puts, ...older.values()]),
    leftOut: [...leftOut, ...withoutKey(contents, takenPositions)],
    uncertain,
    revision: highestRevision(contents),
  };
}

/**
 * Decides whether the object of a key is recovered.
 * @returns undefined when the key has no object
 */
function fateOf(key: string, evidence: Evidence): Fate | undefined {
  const { positions } = evidence;
  const latest = evidence.latest.get(key);
  const pointer = positions.get(key);
  if (latest !== undefined && isLater(latest, evidence)) return fateBefore(latest, evidence);
  if (pointer?.source === "tree") {
    if (latest === undefined || latest.position <= pointer.position || !isTrusted(latest))
      return fateAt(key, pointer.position, evidence);
    return latest.type === "delete"
      ? undefined
      : { put: latest, doubt: "the index of keys leads to an older revision" };
  }
  if (!isLost(key, evidence)) {
    const contradicts = latest?.type === "put" && latest.source === "tree" && evidence.newestLost === 0;
    return contradicts ? { put: latest, doubt: "the index of keys does not have it" } : undefined;
  }
  // When the whole log is readable, it determines the objects.
  const isNewer = pointer !== undefined && pointer.source !== "free" && pointer.position > (latest?.position ?? 0);
  if (isNewer && evidence.newestLost > 0) return doubted(fateAt(key, pointer.position, evidence), pointer, evidence);
  if (latest !== undefined) return latest.type === "delete" ? undefined : doubted({ put: latest }, latest, evidence);
  return evidence.withoutPosition.has(key) ? { lost: "the position of its record is damaged" } : undefined;
}

/** Decides the fate of a key whose latest change {@link isLater}. */
function fateBefore(change: FoundChange, evidence: Evidence): Fate | undefined {
  const doubt = "a newer record of it exists, which no tree leads to";
  const { key } = change;
  const pointer = evidence.positions.get(key);
  if (pointer?.source === "tree") {
    const fate = fateAt(key, pointer.position, evidence);
    if (!("lost" in fate)) return { ...fate, doubt };
    return change.type === "put" ? { put: change, doubt } : fate;
  }
  if (change.type === "put") return { put: change, doubt };
  return isLost(key, evidence) ? { lost: doubt, position: change.position } : undefined;
}

/** Returns whether the change is newer than the state that was read, so that it may be incomplete. */
function isLater({ position }: FoundChange, { marks }: StoreContents): boolean {
  return marks !== undefined && revisionOf(position) > marks.revision;
}

function fateAt(key: string, position: number, { changes, damagedPositions }: Evidence): Fate {
  const change = changes.get(position);
  if (change?.key === key && change.type === "put") return { put: change };
  return { lost: damagedPositions.get(position) ?? "the log has no record of it", position };
}

/** Adds a doubt, when there is one, to a state that the index does not confirm. */
function doubted(fate: Fate, { source, position }: FoundPosition, { newestLost }: Evidence): Fate {
  if ("lost" in fate) return fate;
  if (source === "unknown")
    return { ...fate, doubt: "it was found in a page of which it is not known whether it was in use" };
  return position > newestLost ? fate : { ...fate, doubt: "a later record of it may be lost" };
}

/**
 * Returns the latest readable change of each key, ignoring those in free pages that are not newer
 * than the state.
 */
function latestChanges(contents: StoreContents): ReadonlyMap<string, FoundChange> {
  const latest = new Map<string, FoundChange>();
  for (const change of contents.changes.values()) {
    const isReplaced = change.source === "free" && !isLater(change, contents);
    if (!isReplaced && change.position > (latest.get(change.key)?.position ?? 0)) latest.set(change.key, change);
  }
  return latest;
}

function isTrusted({ source }: FoundChange): boolean {
  return source === "tree" || source === "orphan";
}

function newestLost({ lost, damagedPositions }: StoreContents): number {
  let newest = 0;
  for (const { to } of lost.log)
    newest = Math.max(
      newest,
      to === undefined || to.length < 8 ? Number.POSITIVE_INFINITY : integerKey.readKey(to, 0, 8),
    );
  for (const position of damagedPositions.keys()) newest = Math.max(newest, position);
  return newest;
}

/** Returns whether the entry of the key may be in a damaged part of the index. */
function isLost(key: string, { lost }: StoreContents): boolean {
  return lost.current.some((range) => contains(range, Buffer.from(key)));
}

function contains({ from, to }: KeyRange, key: Buffer): boolean {
  return key.compare(from) >= 0 && (to === undefined || key.compare(to) < 0);
}

function olderStates(
  { changes }: StoreContents,
  lost: readonly { key: string; position: number | undefined }[],
): Map<string, FoundChange> {
  const before = new Map(lost.map(({ key, position }) => [key, position ?? Number.POSITIVE_INFINITY]));
  const older = new Map<string, FoundChange>();
  for (const change of changes.values()) {
    const { key, position, type } = change;
    const limit = before.get(key);
    if (limit !== undefined && type === "put" && position < limit && position > (older.get(key)?.position ?? 0))
      older.set(key, change);
  }
  return older;
}

function expiriesOf({ expiries }: StoreContents, puts: readonly FoundChange[]): Expiry[] {
  const keyAt = new Map(puts.map(({ position, key }) => [position, key]));
  return [...expiries.values()].filter(({ position, key }) => keyAt.get(position) === key);
}

/** Returns damaged records that may be the latest of keys whose index entries are lost. */
function withoutKey({ damagedPositions, changes, lost }: StoreContents, taken: ReadonlySet<number>): LeftOut[] {
  if (lost.current.length === 0) return [];
  const unknown = [...damagedPositions].filter(([position]) => !taken.has(position) && !changes.has(position));
  return unknown.map(([position, problem]) => ({
    key: undefined,
    revision: revisionOf(position),
    problem,
    older: undefined,
  }));
}

function highestRevision({ marks, changes, positions, damagedPositions }: StoreContents): number {
  let highest = marks?.revision ?? 1;
  for (const position of changes.keys()) highest = Math.max(highest, revisionOf(position));
  for (const { position } of positions.values()) highest = Math.max(highest, revisionOf(position));
  for (const position of damagedPositions.keys()) highest = Math.max(highest, revisionOf(position));
  return highest;
}
