/** Finds the trees of the newest state in LMDB's file, also when its meta pages are damaged. */
import { type Tree, treeName } from "../page-file.ts";
import { type LeafPage, metaPages, type StoreFile } from "./store-file.ts";
import { PageUse, walkTree } from "./tree-walk.ts";

export const treeNames = ["meta", "log", "current", "expiry"] as const;
export type TreeName = (typeof treeNames)[number];

export interface Snapshot {
  readonly trees: ReadonlyMap<TreeName, Tree>;
  /** The tree of free pages; undefined when unknown. */
  readonly free: Tree | undefined;
  /** The page that names the trees. */
  readonly mainPage: number;
}

interface FoundSnapshot {
  /** Undefined when the trees cannot be found. */
  readonly snapshot: Snapshot | undefined;
  /** The problems of the meta pages. */
  readonly problems: readonly { readonly page: number; readonly problem: string }[];
}

/** Number of states that are tried when the meta pages are damaged. */
const candidatesMax = 3;

/**
 * Finds the newest state. LMDB writes its two meta pages alternately, so they are from consecutive
 * transactions. Every transaction also writes a new page that names the trees; these pages reveal
 * states that are missing in the meta pages.
 */
export function findSnapshot(file: StoreFile): FoundSnapshot {
  const [meta, other] = file.metas;
  const problems = [...file.metaProblems];
  if (meta !== undefined && other !== undefined && meta.transaction - other.transaction > 1) {
    problems.push({
      page: other.page,
      problem: `the page is of transaction ${other.transaction}, and the other meta page of ${meta.transaction}`,
    });
  }
  // A process that was killed may have left pages of one unfinished transaction.
  const newest = meta === undefined ? -1 : meta.transaction + (problems.length === 0 ? 1 : 0);
  const newer = mainPages(file, newest);
  const current = meta && snapshotOf(file, meta.main.root, meta.free, meta.transaction);
  if (problems.length === 0 && newer.length === 0) return { snapshot: current, problems };
  if (problems.length === 0 && meta !== undefined) {
    problems.push({
      page: meta.page,
      problem: `the page is of transaction ${meta.transaction}, and others are of ${newer[0]?.transaction}`,
    });
  }
  const snapshots = newer
    .slice(0, candidatesMax)
    .flatMap(({ number, transaction }) => snapshotOf(file, number, undefined, transaction) ?? []);
  // If no state is whole, an older one would return old states of objects as if they were current.
  return { snapshot: snapshots.find((snapshot) => isWhole(file, snapshot)) ?? snapshots[0] ?? current, problems };
}

function snapshotOf(
  file: StoreFile,
  root: number | undefined,
  free: Tree | undefined,
  transaction: number,
): Snapshot | undefined {
  if (root === undefined) return { trees: new Map(), free, mainPage: 0 };
  const page = file.page(root);
  if ("problem" in page || page.kind !== "leaf") return undefined;
  // Every transaction writes this page. An older page refers to trees that may be overwritten.
  if (page.transaction < transaction) return { trees: new Map(), free, mainPage: root };
  const trees = treesOf(page);
  return trees && { trees, free, mainPage: root };
}

/**
 * Returns the trees that a page names; undefined when it does not name trees of this server. Four
 * names always fit on one page.
 */
function treesOf({ nodes }: LeafPage): Map<TreeName, Tree> | undefined {
  const trees = new Map<TreeName, Tree>();
  for (const { key, value } of nodes) {
    const name = treeName(key) as TreeName;
    if (!("tree" in value) || !treeNames.includes(name)) return undefined;
    trees.set(name, value.tree);
  }
  return trees;
}

/** Returns the pages that name trees and are from later transactions, newest first. */
function mainPages(file: StoreFile, after: number): LeafPage[] {
  const pages: LeafPage[] = [];
  for (let at = metaPages; at < file.pageCount; at++) {
    if ((file.header(at)?.transaction ?? 0) <= after) continue;
    const page = file.page(at);
    if (!("problem" in page) && page.kind === "leaf" && page.nodes.length > 0 && treesOf(page) !== undefined)
      pages.push(page);
  }
  return pages.sort((a, b) => b.transaction - a.transaction);
}

function isWhole(file: StoreFile, { trees }: Snapshot): boolean {
  const use = new PageUse(file.pageCount);
  let whole = true;
  const visitor = {
    node() {},
    damaged() {
      whole = false;
    },
  };
  for (const tree of trees.values())
    if (walkTree(file, tree, use, visitor, { isOrdered: true }) !== tree.entries) whole = false;
  return whole;
}
