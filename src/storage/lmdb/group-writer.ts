/** Puts the records of a group of changes into a transaction. */
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

  constructor(rules: RecordRules) {
    this.#rules = rules;
  }

  /** Puts a group; called in a transaction. */
  put({ changes, expiries, drop, dropExpiries, marks }: LedgerGroup, { meta, log, current, expiry }: Maps): void {
    const arena = this.#arenaFor(changes);
    encodeMarks({ ...marks, uncheckedUntil: this.#rules.uncheckedUntil }, arena.bytes);
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
      log.put(position, arena.bytes.subarray(record, at));
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
