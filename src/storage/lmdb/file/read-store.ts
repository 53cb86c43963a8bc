/**
 * Reads all entries in a store's file, skipping and reporting damage. When a tree is damaged, it
 * also searches the pages that are not reachable from any tree.
 */
import { revisionOf } from "../../embedded/ledger.ts";
import { integerKey } from "../keys.ts";
import { freePages } from "../page-file.ts";
import { pointerBytes } from "../pointers.ts";
import { FoundEntries, type NodePlace, positionOfKey, type Source, treeOfKey } from "./found-entries.ts";
import { type LeafNode, type LeafPage, metaPages, type Readable, type StoreFile } from "./store-file.ts";
import { type DamagedPage, type KeyRange, PageUse, walkTree } from "./tree-walk.ts";
import { findSnapshot, type Snapshot, type TreeName, treeNames } from "./trees.ts";

/** One damaged part of a store's file. */
export interface Damage {
  /** The first and the last damaged page; undefined when unknown. */
  readonly pages?: readonly [first: number, last: number];
  readonly tree?: TreeName;
  readonly key?: string;
  readonly revision?: number;
  readonly problem: string;
}

/** All entries that could be read, and the damage. */
export interface StoreContents extends Pick<FoundEntries, "marks" | "changes" | "positions" | "expiries"> {
  /** The problem of each unreadable record in the log, by position. */
  readonly damagedPositions: ReadonlyMap<number, string>;
  /** The key ranges of each tree that could not be read. */
  readonly lost: Readonly<Record<TreeName, readonly KeyRange[]>>;
  readonly damage: readonly Damage[];
}

/** Called periodically with the number of pages read; pages of a damaged file are read twice. */
type OnProgress = (pagesRead: number, pagesInFile: number) => void;

const progressPages = 1024;
const everything: KeyRange = { from: Buffer.alloc(0), to: undefined };

/** Reads a store's file. @throws Error when the store was written by a newer server */
export function readStore(file: StoreFile, onProgress: OnProgress = () => {}): StoreContents {
  return new Reader(file, onProgress).read();
}

/** Reads the value of a node that was found. @throws Error when the file has changed since */
export function valueAt(file: StoreFile, { page, offset, movedTo }: NodePlace): Buffer {
  const node = file.node(page, offset);
  const value = node && readValue(file, node, { movedTo });
  if (!Buffer.isBuffer(value)) throw new Error(`page ${page} has changed while it was read`);
  return value;
}

interface DamagedRecord {
  readonly damage: Damage;
  readonly page: number;
  readonly node: LeafNode;
}

class Reader {
  readonly #file: StoreFile;
  readonly #onProgress: OnProgress;
  readonly #use: PageUse;
  readonly #free: PageUse;
  #freeIsKnown = false;
  #pagesRead = 0;
  readonly #found = new FoundEntries();
  readonly #damagedRecords = new Map<number, DamagedRecord>();
  readonly #lost: Record<TreeName, KeyRange[]> = { meta: [], log: [], current: [], expiry: [] };
  readonly #damage: Damage[] = [];

  constructor(file: StoreFile, onProgress: OnProgress) {
    this.#file = file;
    this.#onProgress = onProgress;
    this.#use = new PageUse(file.pageCount);
    this.#free = new PageUse(file.pageCount);
  }

  read(): StoreContents {
    const { snapshot, problems } = findSnapshot(this.#file);
    for (const { page, problem } of problems) this.#damage.push({ pages: [page, page], problem });
    if (snapshot === undefined) {
      this.#damage.push({ problem: "no page leads to the store's trees" });
      for (const name of treeNames) this.#lost[name].push(everything);
    } else this.#readSnapshot(snapshot);
    if (this.#damage.length > 0 || this.#damagedRecords.size > 0) this.#searchPages();
    const damaged = [...this.#damagedRecords];
    const { marks, changes, positions, expiries } = this.#found;
    return {
      marks,
      changes,
      positions,
      expiries,
      damagedPositions: new Map(damaged.map(([position, { damage }]) => [position, damage.problem])),
      lost: this.#lost,
      damage: [...this.#damage, ...damaged.map(([, { damage }]) => damage)],
    };
  }

  #readSnapshot(snapshot: Snapshot): void {
    if (snapshot.mainPage !== 0) this.#use.add(snapshot.mainPage);
    this.#readFree(snapshot);
    // The marks come first: they say which entries may have no checksum.
    for (const name of treeNames) this.#readTree(name, snapshot);
  }

  #readFree({ free }: Snapshot): void {
    if (free === undefined) return;
    this.#freeIsKnown = true;
    const damaged = ({ page, problem }: Pick<DamagedPage, "page" | "problem">): void => {
      this.#freeIsKnown = false;
      this.#damage.push({ pages: [page, page], problem: `in the list of free pages: ${problem}` });
    };
    const node = (one: LeafNode, { number: page }: LeafPage): void => {
      this.#use.add(page);
      const value = readValue(this.#file, one, { use: this.#use });
      if (!Buffer.isBuffer(value)) damaged({ page, problem: value.problem });
      else if (!addFreePages(value, this.#free))
        damaged({ page, problem: "it names a page twice, or one that is not in the file" });
    };
    walkTree(this.#file, free, new PageUse(this.#file.pageCount), { node, damaged }, { isOrdered: false });
  }

  #readTree(name: TreeName, { trees, mainPage }: Snapshot): void {
    const tree = trees.get(name);
    if (tree === undefined) {
      // In a store that was never written, no page names trees.
      if (mainPage !== 0) this.#loseTree(name, everything, { tree: name, problem: "the tree is missing" });
      return;
    }
    const damaged = ({ page, problem, range }: DamagedPage): void =>
      this.#loseTree(name, range, {
        pages: [page, page],
        tree: name,
        problem: `${problem}${describeRange(name, range)}`,
      });
    const node = (one: LeafNode, leaf: LeafPage, index: number): void => this.#addFromTree(name, one, leaf, index);
    const count = walkTree(this.#file, tree, new PageUse(this.#file.pageCount), { node, damaged }, { isOrdered: true });
    if (this.#lost[name].length > 0 || count === tree.entries) return;
    this.#loseTree(name, everything, {
      tree: name,
      problem: `the tree has ${count} entries and ${tree.entries} were written: a page is of another time`,
    });
  }

  #loseTree(name: TreeName, range: KeyRange, damage: Damage): void {
    this.#lost[name].push(range);
    this.#damage.push(damage);
  }

  #addFromTree(tree: TreeName, node: LeafNode, leaf: LeafPage, index: number): void {
    if (index === 0) this.#countPage();
    const value = readValue(this.#file, node, { use: this.#use });
    const problem = Buffer.isBuffer(value)
      ? this.#found.add(tree, node.key, value, "tree", { page: leaf.number, offset: node.offset })
      : value.problem;
    if (problem === undefined) {
      // A damaged tree may refer to pages of another tree. Pages without an entry of this tree stay
      // unused, so that they are searched again.
      this.#use.add(leaf.number);
      return;
    }
    const position = tree === "log" ? positionOfKey(node.key) : undefined;
    const pages = pagesOf(node, leaf);
    if (position !== undefined) {
      this.#damagedRecords.set(position, {
        damage: { pages, tree, revision: revisionOf(position), problem },
        page: leaf.number,
        node,
      });
      return;
    }
    const key = tree === "current" ? node.key.toString() : undefined;
    this.#loseTree(tree, oneKey(node.key), { pages, tree, ...(key !== undefined && { key }), problem });
  }

  /** Searches all pages that were not reached from a tree. */
  #searchPages(): void {
    const moved = this.#movedValues();
    for (const { page, node } of this.#damagedRecords.values()) this.#addFromPage(node, page, "tree", moved);
    for (let at = metaPages; at < this.#file.pageCount; at++) {
      this.#countPage();
      if (this.#use.has(at)) continue;
      const source = !this.#freeIsKnown ? "unknown" : this.#free.has(at) ? "free" : "orphan";
      const leaf = this.#file.page(at, { anyNumber: true });
      if (!("problem" in leaf)) {
        if (leaf.kind === "leaf") for (const node of leaf.nodes) this.#addFromPage(node, at, source, moved);
      } else if (source !== "free") {
        // Entries with their own checksums can be valid in a damaged page. They may have been
        // replaced, because the page may contain remains of older entries.
        for (const node of this.#file.possibleNodes(at))
          if (isChecked(node)) this.#addFromPage(node, at, "unknown", moved);
      }
    }
  }

  /**
   * Finds overflow values at a page other than the one in their header; maps the latter to the
   * former.
   */
  #movedValues(): ReadonlyMap<number, number> {
    const moved = new Map<number, number>();
    for (let at = metaPages; at < this.#file.pageCount; at++) {
      const header = this.#file.header(at);
      if (header?.isOverflow === true && header.number !== at) moved.set(header.number, at);
    }
    return moved;
  }

  #addFromPage(node: LeafNode, page: number, source: Source, moved: ReadonlyMap<number, number>): void {
    const tree = treeOfKey(node.key);
    if (tree === undefined) return;
    const add = (movedTo: number | undefined): boolean => {
      const value = readValue(this.#file, node, { movedTo });
      const place: NodePlace = { page, offset: node.offset, movedTo };
      return Buffer.isBuffer(value) && this.#found.add(tree, node.key, value, source, place) === undefined;
    };
    // A page with the number of another one may be a copy of it. The other one is read first.
    const movedTo = "page" in node.value ? moved.get(node.value.page) : undefined;
    if (!add(undefined) && movedTo !== undefined) add(movedTo);
  }

  #countPage(): void {
    if (++this.#pagesRead % progressPages === 0) this.#onProgress(this.#pagesRead, this.#file.pageCount);
  }
}

/**
 * Returns whether entries with such a key and value have checksums. Index entries without one are
 * shorter.
 */
function isChecked({ key, value }: LeafNode): boolean {
  const tree = treeOfKey(key);
  return tree === "log" || (tree === "current" && Buffer.isBuffer(value) && value.length === pointerBytes);
}

interface ValueOptions {
  /** Receives the pages of the value. */
  readonly use?: PageUse;
  /** The first page of the value, when it is not the page that the node refers to. */
  readonly movedTo?: number | undefined;
}

function readValue(file: StoreFile, { value }: LeafNode, { use, movedTo }: ValueOptions): Readable<Buffer> {
  if (Buffer.isBuffer(value)) return value;
  if ("tree" in value) return { problem: "the entry is another tree" };
  const bytes = file.overflow(value, movedTo);
  // When two values claim the same pages, they belong to the one whose checksum matches.
  if (Buffer.isBuffer(bytes)) use?.add(value.page, value.pages);
  return bytes;
}

function addFreePages(list: Buffer, free: PageUse): boolean {
  for (const [page, count] of freePages(list)) if (!free.add(page, count)) return false;
  return true;
}

function pagesOf({ value }: LeafNode, { number }: LeafPage): readonly [number, number] {
  return "page" in value ? [value.page, value.page + value.pages - 1] : [number, number];
}

/** The range of one key ends before that key with a zero byte appended. */
function oneKey(key: Buffer): KeyRange {
  return { from: key, to: Buffer.concat([key, Buffer.alloc(1)]) };
}

function describeRange(name: TreeName, { from, to }: KeyRange): string {
  if (name !== "log" && name !== "current") return "";
  const describe = (key: Buffer): string =>
    name === "current"
      ? JSON.stringify(key.toString())
      : `revision ${revisionOf(key.length < 8 ? 0 : integerKey.readKey(key, 0, 8))}`;
  const start = from.length === 0 ? "the first" : describe(from);
  return `; it was for the entries from ${start} to ${to === undefined ? "the last" : describe(to)}`;
}
