/** Puts the records of a group of changes into a transaction. */
import type { PutOptions } from "lmdb";
import { type Change, type LedgerGroup, revisionOf } from "../embedded/ledger.ts";
import type { Maps } from "./maps.ts";
import { encodeMarks, marksBytes } from "./marks.ts";
import { encodeExpiry, encodePosition, pointerBytes } from "./pointers.ts";
import { type Arena, type RecordRules, recordBytesMax, writeRecord } from "./record.ts";

/** A larger arena is not reused for the next write. */
const arenaKeptMax = 4 << 20;

/** Encodes groups one after another, in the same memory. */
export class GroupWriter {
  readonly #rules: RecordRules;
  /** Buffer for the records of one write; writes do not overlap. */
  #arena = newArena(64 << 10);
  /** No record of the log has a higher position. Unset before the first write. */
  #lastPosition: number | undefined;

  constructor(rules: RecordRules) {
    this.#rules = rules;
  }

  /**
   * Puts a group; called in a transaction.
   * @returns for each record that is added at the end of the log, whether LMDB has added it
   */
  put(
    { changes, expiries, drop, dropExpiries, marks }: LedgerGroup,
    { meta, log, current, expiry }: Maps,
  ): Promise<boolean>[] {
    const appended: Promise<boolean>[] = [];
    const arena = this.#arenaFor(changes);
    encodeMarks({ ...marks, uncheckedUntil: this.#rules.uncheckedUntil }, arena.bytes);
    this.#lastPosition ??= lastPositionIn(log);
    let at = marksBytes;
    meta.put("marks", arena.bytes.subarray(0, at));
    for (const [index, change] of changes.entries()) {
      const { key, position, type } = change;
      const following = changes[index + 1];
      const record = at;
      at = writeRecord(
        change,
        arena,
        record,
        following !== undefined && revisionOf(following.position) === revisionOf(position),
      );
      if (position > this.#lastPosition) {
        this.#lastPosition = position;
        appended.push(append(log, position, arena.bytes.subarray(record, at)));
      } else log.put(position, arena.bytes.subarray(record, at));
      if (type === "delete") current.remove(key);
      else {
        const end = encodePosition(key, position, arena.bytes, at);
        current.put(key, arena.bytes.subarray(at, end));
        at = end;
      }
    }
    for (const position of drop) log.remove(position);
    for (const each of expiries) expiry.put([each.at, each.position], encodeExpiry(each));
    for (const { at: time, position } of dropExpiries) expiry.remove([time, position]);
    return appended;
  }

  /** Returns a buffer for the marks, and for a record and a position of each change. */
  #arenaFor(changes: readonly Change[]): Arena {
    let bytesMax = marksBytes;
    for (const change of changes) bytesMax += recordBytesMax(change) + pointerBytes;
    if (bytesMax <= this.#arena.bytes.length) return this.#arena;
    const arena = newArena(bytesMax);
    if (bytesMax <= arenaKeptMax) this.#arena = arena;
    return arena;
  }
}

function newArena(length: number): Arena {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

/**
 * Adds a record at the end. Without this option, LMDB splits a page of two records into two pages of one when it adds
 * a third.
 */
function append(log: Maps["log"], position: number, record: Buffer): Promise<boolean> {
  const { put } = log as unknown as { put(position: number, record: Buffer, options: PutOptions): Promise<boolean> };
  return put.call(log, position, record, { append: true });
}

/** LMDB does not add a record at the end if there is a higher position. */
function lastPositionIn(log: Maps["log"]): number {
  for (const position of log.getKeys({ reverse: true, limit: 1, snapshot: false })) return position;
  return 0;
}
