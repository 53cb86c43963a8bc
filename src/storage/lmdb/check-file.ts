/**
 * Checks the files of a store before LMDB maps them. A damaged file, once mapped, could crash the
 * process without a message, or show an older state.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DamagedStore } from "../contract.ts";
import { checkPages } from "./check-pages.ts";
import { indexChecksum } from "./index-checksum.ts";
import { type Meta, PageFile, readMeta } from "./page-file.ts";

/** Names of the trees in a store of this server. */
const treeNames = ["current", "expiry", "log", "meta"];
const lockMagic = 0xbeefc0de;
/** Findings that an error message lists. */
const listedMax = 3;
/** Pages that LMDB may have allocated behind the end of a small file without writing them. */
const unwrittenPagesMax = 1 << 20;

/** @returns the path of LMDB's data file */
export function dataFile(dir: string): string {
  return join(dir, "data.mdb");
}

interface FileCheck {
  /** Checks all pages, instead of only those of the index. */
  readonly withLog: boolean;
  /**
   * The {@link closingChecksum} of the last close. When the index still has it, its pages are not
   * checked.
   */
  readonly closedAs?: number | undefined;
}

/**
 * Checks a store before it is opened.
 * @throws DamagedStore
 * @throws Error when the file belongs to another program, or cannot be read
 */
export function checkFile(dir: string, { withLog, closedAs }: FileCheck): void {
  const path = dataFile(dir);
  const lastWritten = lastTransaction(dir);
  if (!existsSync(path)) {
    if (lastWritten > 0) throw damaged(path, `it is missing, and the last server wrote transaction ${lastWritten}`);
    return;
  }
  const file = new PageFile(path);
  try {
    if (file.length === 0 && lastWritten === 0) return; // The first start was interrupted.
    const meta = checkMetas(file, path);
    if (meta.transaction < lastWritten) {
      const older = `its newest root is of transaction ${meta.transaction}, and the last server wrote ${lastWritten}`;
      throw damaged(
        path,
        `${older}: it is an older copy, or lost its end. To start with the older state, remove ${join(dir, "lock.mdb")} first`,
      );
    }
    const pages = Math.ceil(file.length / meta.pageSize);
    if (meta.lastPage > 2 * pages + unwrittenPagesMax)
      throw damaged(path, `its last page should be ${meta.lastPage}, and it has ${pages} pages`);
    const isShort = (meta.lastPage + 1) * meta.pageSize > file.length;
    if (!isShort && closedAs !== undefined && indexChecksum(file, meta) === closedAs) return;
    const { findings, trees } = checkPages(file, meta, { withLog: withLog || isShort });
    const foreign = trees.filter((name) => !treeNames.includes(name));
    if (findings.length > 0) throw damaged(path, describe(findings));
    if (foreign.length > 0 && foreign.length === trees.length)
      throw new Error(`${path} is not a store of this server: it has the LMDB databases ${trees}`);
    if (foreign.length > 0)
      throw damaged(path, `its trees should be ${treeNames.join(", ")}, and are ${trees.join(", ")}`);
  } finally {
    file.close();
  }
}

/**
 * Computes the checksum of the index, with which {@link checkFile} detects changes at the next
 * start. The store must not be written during the call.
 * @returns undefined when the index is damaged
 * @throws DamagedStore when the meta pages are damaged
 * @throws Error with code ENOENT, EIO, …
 */
export function closingChecksum(dir: string): number | undefined {
  const path = dataFile(dir);
  const file = new PageFile(path);
  try {
    return indexChecksum(file, checkMetas(file, path));
  } finally {
    file.close();
  }
}

/** Returns the newer of the two meta pages. @throws DamagedStore */
function checkMetas(file: PageFile, path: string): Meta {
  const first = readMeta(file, 0);
  if (typeof first === "string") throw damaged(path, `its first meta page is damaged: ${first}`);
  const second = readMeta(file, first.pageSize);
  if (typeof second === "string") throw damaged(path, `its second meta page is damaged: ${second}`);
  const [even, odd] = [first.transaction, second.transaction];
  // Even transactions write the first meta page, odd ones the second. A copy made by LMDB has only
  // one of them.
  const areNeighbors = even === 0 || (Math.abs(even - odd) === 1 && even % 2 === 0);
  if (first.pageSize !== second.pageSize || !areNeighbors || (odd !== 0 && odd % 2 !== 1)) {
    throw damaged(
      path,
      `its meta pages do not fit together: transactions ${even} and ${odd}, pages of ${first.pageSize} and ${second.pageSize} bytes`,
    );
  }
  return even > odd ? first : second;
}

/**
 * Returns the number of the newest transaction, which LMDB stores in its lock file for other
 * processes; 0 when the file is missing or unreadable.
 */
function lastTransaction(dir: string): number {
  const path = join(dir, "lock.mdb");
  if (!existsSync(path)) return 0;
  const bytes = readFileSync(path);
  if (bytes.length < 16 || bytes.readUInt32LE(0) !== lockMagic) return 0;
  return bytes.readUInt32LE(8) + bytes.readUInt32LE(12) * 2 ** 32;
}

function describe(findings: readonly { readonly page: number; readonly problem: string }[]): string {
  const listed = findings.slice(0, listedMax).map(({ page, problem }) => `page ${page}: ${problem}`);
  const more = findings.length - listed.length;
  return listed.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function damaged(path: string, problem: string): DamagedStore {
  return new DamagedStore(
    `${path} is damaged: ${problem}. Nothing was changed; see "A store that does not open" in docs/reliability.md`,
  );
}
