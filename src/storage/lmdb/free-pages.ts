/**
 * Decides whether LMDB can write into pages of its file that are free, when the file cannot grow. Errs on the side
 * of no: a write that LMDB begins and for which the disk has no space may end the process (see disk-reserve.ts).
 * Source: `mdb_page_alloc` and `mdb_freelist_save` in `mdb.c` of lmdb-js 3.5.6.
 */
import { StoreFile } from "./file/store-file.ts";
import { PageUse, walkTree } from "./file/tree-walk.ts";
import { freePages, overflowPages, readNumber } from "./page-file.ts";
import type { SpaceNeed } from "./space-need.ts";

/** The free pages that a transaction can use. */
export interface FreeRuns {
  readonly pageSize: number;
  /** Lengths of runs of pages that are next to each other. */
  readonly runs: readonly number[];
}

/** The free pages of a file. */
export interface FreePages {
  /** For the next transaction. */
  readonly now: FreeRuns;
  /** For the one after it, which can use what the last one freed. */
  readonly later: FreeRuns;
}

/** LMDB loads no more of its lists when it has so many numbers (`me_maxfreepgs_to_load`). */
const loadedMax = 50_000;
const numberBytes = 8;

/**
 * Reads the lists of free pages of the newest state. The store must not be written during the call.
 *
 * @param oldestReader the transaction of the oldest reader: LMDB reuses what older transactions have freed
 * @returns undefined when a page of the lists is damaged
 */
export function readFreePages(path: string, oldestReader: number): FreePages | undefined {
  const file = new StoreFile(path);
  try {
    const [meta] = file.metas;
    if (meta === undefined) return undefined;
    const now: Run[] = [];
    const later: Run[] = [];
    let isDamaged = false;
    const damaged = (): void => {
      isDamaged = true;
    };
    walkTree(
      file,
      meta.free,
      new PageUse(file.pageCount),
      {
        damaged,
        node({ key, value }) {
          const transaction = readNumber(key, 0);
          if (transaction >= oldestReader) return;
          const list = Buffer.isBuffer(value) || "tree" in value ? value : file.overflow(value);
          if (!Buffer.isBuffer(list)) return damaged();
          for (const [page, count] of freePages(list)) {
            // Pages beyond the end of the file would have to be allocated.
            if (page + count > file.pageCount) continue;
            if (transaction < meta.transaction) now.push([page, count]);
            later.push([page, count]);
          }
        },
      },
      { isOrdered: false },
    );
    const { pageSize } = file;
    return isDamaged ? undefined : { now: { pageSize, runs: joined(now) }, later: { pageSize, runs: joined(later) } };
  } finally {
    file.close();
  }
}

type Run = readonly [page: number, count: number];

/** LMDB joins neighbors when it loads its lists (`mdb_midl_insert` in `midl.c`). */
function joined(listed: Run[]): number[] {
  const runs: number[] = [];
  let end: number | undefined;
  for (const [page, count] of listed.sort(([a], [b]) => a - b)) {
    if (page === end) runs.push((runs.pop() as number) + count);
    else runs.push(count);
    end = page + count;
  }
  return runs;
}

/**
 * Whether the runs satisfy the need in any order in which LMDB takes pages. It takes them from the start of a run, so
 * that runs become shorter and are never divided. Of those that are long enough for the longest record, as many must
 * remain as there are records when all other pages were taken where they do the most harm.
 */
export function suffices({ pageSize, runs }: FreeRuns, { bytes, records, largestBytes }: SpaceNeed): boolean {
  const numbers = runs.reduce((sum, run) => sum + numbersOf(run), 0);
  /** Of the saved lists, each of up to two pages. */
  const lists = Math.ceil((2 * numbers * numberBytes) / pageSize) + 1;
  const pages = Math.ceil(bytes / pageSize) + 2 * lists;
  /** The list of pages that the transaction frees is one record. */
  const freed = overflowPages((pages + 1) * numberBytes, pageSize);
  const length = Math.max(2, freed, overflowPages(largestBytes, pageSize));
  const shorter = runs.reduce((sum, run) => sum + (run < length ? numbersOf(run) : 0), 0);
  return shorter + 2 * pages <= loadedMax && placesLeft(runs, length, pages) >= records + lists + 1;
}

/** How many records of so many pages fit at least, when other pages are taken before. */
function placesLeft(runs: readonly number[], length: number, taken: number): number {
  const long = runs.filter((run) => run >= length);
  /** A place of each run needs fewer pages to be lost than the others. */
  const first = long.map((run) => (run % length) + 1).sort((a, b) => a - b);
  let places = long.reduce((sum, run) => sum + Math.floor(run / length), 0);
  let left = taken;
  for (const cost of first) {
    if (cost > left) return places;
    left -= cost;
    places--;
  }
  return places - Math.floor(left / length);
}

/** In LMDB's lists, a page has one number, and a run two: its length and its first page. */
function numbersOf(run: number): number {
  return run === 1 ? 1 : 2;
}
