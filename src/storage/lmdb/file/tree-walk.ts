/** Walks a tree of LMDB's file, past damaged pages, and notes which pages it uses. */
import type { Tree } from "../page-file.ts";
import type { LeafNode, LeafPage, StoreFile } from "./store-file.ts";

/** Levels of a tree at most; LMDB's own limit. */
const depthMax = 32;

/** Keys from the first, which is empty at the left end, to before the second, which is undefined at the right end. */
export interface KeyRange {
  readonly from: Buffer;
  readonly to: Buffer | undefined;
}

export interface DamagedPage {
  readonly page: number;
  readonly problem: string;
  /** What the page, and all below it, was for. */
  readonly range: KeyRange;
}

export interface TreeVisitor {
  node(node: LeafNode, leaf: LeafPage, index: number): void;
  damaged(page: DamagedPage): void;
}

/** Which pages of the file are in use, and each only once. */
export class PageUse {
  readonly #used: Uint8Array;

  constructor(pageCount: number) {
    this.#used = new Uint8Array(pageCount);
  }

  has(page: number): boolean {
    return this.#used[page] === 1;
  }

  /** @returns false when one of them was in use already, or is not in the file */
  add(page: number, count = 1): boolean {
    let isNew = page >= 0 && page + count <= this.#used.length;
    for (let each = page; isNew && each < page + count; each++) isNew = this.#used[each] === 0;
    if (isNew) this.#used.fill(1, page, page + count);
    return isNew;
  }
}

/** @param isOrdered whether keys are ordered as bytes are, so that the order can be checked. @returns how many entries were visited */
export function walkTree(
  file: StoreFile,
  { root }: Tree,
  use: PageUse,
  visitor: TreeVisitor,
  { isOrdered }: { readonly isOrdered: boolean },
): number {
  let count = 0;
  if (root !== undefined) visit(root, { from: Buffer.alloc(0), to: undefined }, 0);
  return count;

  function visit(at: number, range: KeyRange, depth: number): void {
    const page = file.page(at);
    const problem =
      "problem" in page
        ? page.problem
        : depth > depthMax
          ? "the tree is too deep"
          : use.add(at)
            ? undefined
            : "the page is used twice";
    if ("problem" in page || problem !== undefined)
      return visitor.damaged({ page: at, problem: problem as string, range });
    const keys =
      page.kind === "leaf" ? page.nodes.map(({ key }) => key) : page.children.slice(1).map(({ from }) => from);
    if (isOrdered && !areInOrder(keys, range))
      return visitor.damaged({ page: at, problem: "the keys of the page are not in order", range });
    if (page.kind === "branch") {
      for (const [index, child] of page.children.entries()) {
        const from = index === 0 ? range.from : child.from;
        visit(child.page, { from, to: page.children[index + 1]?.from ?? range.to }, depth + 1);
      }
      return;
    }
    for (const [index, node] of page.nodes.entries()) visitor.node(node, page, index);
    count += page.nodes.length;
  }
}

function areInOrder(keys: readonly Buffer[], { from, to }: KeyRange): boolean {
  let last: Buffer | undefined;
  for (const key of keys) {
    if (last === undefined ? key.compare(from) < 0 : key.compare(last) <= 0) return false;
    last = key;
  }
  return last === undefined || to === undefined || last.compare(to) < 0;
}
