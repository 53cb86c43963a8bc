/**
 * Collects the entries found in a store's file. Of several copies of an entry it keeps the most
 * reliable one. Entries have checksums, so that foreign data is not accepted as an entry.
 */
import type { ChangeHead, Expiry } from "../../embedded/ledger.ts";
import { integerKey } from "../keys.ts";
import { decodeMarks, type StoredMarks } from "../marks.ts";
import { decodeExpiry, decodePosition } from "../pointers.ts";
import { hasChecksum, type RecordRules, readHead, recordProblem } from "../record.ts";
import type { TreeName } from "./trees.ts";

/**
 * Where an entry was found: `tree`, in a tree; `orphan`, in a used page that is no longer
 * reachable; `unknown`, in a page that may be used or free; `free`, in a free page, whose entries
 * have been replaced or deleted.
 */
export type Source = "tree" | "orphan" | "unknown" | "free";

const rank: Readonly<Record<Source, number>> = { free: 0, unknown: 1, orphan: 2, tree: 3 };

/** The location of a leaf node. */
export interface NodePlace {
  readonly page: number;
  readonly offset: number;
  /** The first overflow page of its value, when it is not the page that the node refers to. */
  readonly movedTo?: number | undefined;
}

export interface FoundChange extends Pick<ChangeHead, "type" | "key" | "position"> {
  readonly source: Source;
  readonly place: NodePlace;
  readonly hasChecksum: boolean;
}

/** Prefers the record with a checksum, then the one that was found in the more reliable place. */
function isBetter(change: FoundChange, found: FoundChange): boolean {
  if (change.hasChecksum !== found.hasChecksum) return change.hasChecksum;
  return rank[change.source] > rank[found.source];
}

export interface FoundPosition {
  readonly position: number;
  readonly source: Source;
}

const positionBytes = 8;
const expiryKeyBytes = 16;
const slash = 0x2f;
/** Until the marks are found, any record may be one without a checksum. */
const lenient: RecordRules = { uncheckedUntil: Number.MAX_SAFE_INTEGER };
const strict: RecordRules = { uncheckedUntil: 0 };

/**
 * Returns the tree whose keys have this form; undefined for foreign keys and for the marks, which
 * are recognized only in their tree.
 */
export function treeOfKey(key: Buffer): TreeName | undefined {
  if (key.length === positionBytes && key[0] === 0) return "log";
  if (key.length === expiryKeyBytes && key[0] === 0) return "expiry";
  return key[0] === slash ? "current" : undefined;
}

/** Decodes the key of a record in the log; undefined when the key is damaged. */
export function positionOfKey(key: Buffer): number | undefined {
  return key.length === positionBytes ? integerKey.readKey(key, 0, positionBytes) : undefined;
}

export class FoundEntries {
  marks: StoredMarks | undefined;
  readonly changes = new Map<number, FoundChange>();
  readonly positions = new Map<string, FoundPosition>();
  /** By time and position. */
  readonly expiries = new Map<string, Expiry>();

  /**
   * Adds an entry.
   * @returns the problem when the entry is damaged; undefined when it is valid
   * @throws Error when the store was written by a newer server
   */
  add(tree: TreeName, key: Buffer, value: Buffer, source: Source, place: NodePlace): string | undefined {
    if (tree === "meta") return this.#addMarks(key, value);
    if (tree === "log") return this.#addChange(key, value, source, place);
    return tree === "current" ? this.#addPosition(key.toString(), value, source) : this.#addExpiry(key, value);
  }

  #addMarks(key: Buffer, value: Buffer): string | undefined {
    if (key.toString() !== "marks") return "the entry is none of this server's";
    const verdict = decodeMarks(value);
    if ("problem" in verdict) return verdict.problem;
    if ("newerFormat" in verdict)
      throw new Error(
        `the store has format ${verdict.newerFormat}, that of a newer server; this program cannot read it`,
      );
    this.marks = verdict.marks;
    return undefined;
  }

  #addChange(key: Buffer, value: Buffer, source: Source, place: NodePlace): string | undefined {
    const position = positionOfKey(key);
    if (position === undefined) return `the key has ${key.length} bytes`;
    const problem = recordProblem(position, value, this.marks ?? lenient);
    if (problem !== undefined) return problem;
    const { type, key: ofObject } = readHead(position, value);
    const change: FoundChange = { type, key: ofObject, position, source, place, hasChecksum: hasChecksum(value) };
    // Without a checksum, remains of other entries may look like a record.
    if (!change.hasChecksum && source !== "tree" && !ofObject.startsWith("/"))
      return "the bytes are not those of a record";
    const found = this.changes.get(position);
    if (found === undefined || isBetter(change, found)) this.changes.set(position, change);
    return undefined;
  }

  #addPosition(key: string, value: Buffer, source: Source): string | undefined {
    const position = decodePosition(key, value, value.length, this.marks ?? lenient);
    if (position < 0) return "the position of its record is damaged";
    const found = this.positions.get(key);
    const better = found === undefined ? 1 : rank[source] - rank[found.source] || position - found.position;
    if (better > 0) this.positions.set(key, { position, source });
    return undefined;
  }

  #addExpiry(key: Buffer, value: Buffer): string | undefined {
    if (key.length !== expiryKeyBytes) return `the key has ${key.length} bytes`;
    const [at, position] = [integerKey.readKey(key, 0, 8), integerKey.readKey(key, 8, 16)];
    const expiry =
      decodeExpiry(at, position, value, this.marks ?? strict) ??
      decodeExpiry(at, position, value, this.marks ?? lenient);
    if (expiry === undefined) return "the time at which a key expires is damaged";
    this.expiries.set(`${at} ${position}`, expiry);
    return undefined;
  }
}
