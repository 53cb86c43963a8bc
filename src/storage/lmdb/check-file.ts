/** What is checked of a store's files before LMDB maps them: mapped, a damaged file ends the process without a word, or shows an older state. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DamagedStore } from "../contract.ts";
import { checkPages } from "./check-pages.ts";
import { indexChecksum } from "./index-checksum.ts";
import { type Meta, PageFile, readMeta } from "./page-file.ts";

/** Names of our trees. */
const treeNames = ["current", "expiry", "log", "meta"];
const lockMagic = 0xbeefc0de;
const namedMax = 3;

export function dataFile(dir: string): string {
  return join(dir, "data.mdb");
}

export interface FileCheck {
  /** Reads every page, instead of those of the index alone. */
  readonly withLog: boolean;
  /** The {@link closingChecksum}: as long as the index has it, its pages are not read one by one. */
  readonly closedAs?: number | undefined;
}

/**
 * @throws DamagedStore · Error when it is the file of another program, or cannot be read
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
    const isShort = (meta.lastPage + 1) * meta.pageSize > file.length;
    if (!isShort && closedAs !== undefined && indexChecksum(file, meta) === closedAs) return;
    const { findings, trees } = checkPages(file, meta, { withLog: withLog || isShort });
    const foreign = trees.filter((name) => !treeNames.includes(name));
    if (findings.length === 0 && foreign.length > 0)
      throw new Error(`${path} is not a store of this server: it has the LMDB databases ${trees}`);
    if (findings.length > 0) throw damaged(path, describe(findings));
  } finally {
    file.close();
  }
}

/**
 * Of the index as it is in the file, for {@link checkFile} to find it as it was. Nothing may write meanwhile.
 * @returns undefined when it is damaged
 * @throws DamagedStore when the meta pages are · Error with code ENOENT, EIO, …
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

/** The newest of the two meta pages. @throws DamagedStore */
function checkMetas(file: PageFile, path: string): Meta {
  const first = readMeta(file, 0);
  if (typeof first === "string") throw damaged(path, `its first meta page is damaged: ${first}`);
  const second = readMeta(file, first.pageSize);
  if (typeof second === "string") throw damaged(path, `its second meta page is damaged: ${second}`);
  const [even, odd] = [first.transaction, second.transaction];
  // A transaction writes the page of its number's parity. A copy that LMDB has made has only one of them.
  const areNeighbors = even === 0 || (Math.abs(even - odd) === 1 && even % 2 === 0);
  if (first.pageSize !== second.pageSize || !areNeighbors || (odd !== 0 && odd % 2 !== 1)) {
    throw damaged(
      path,
      `its meta pages do not fit together: transactions ${even} and ${odd}, pages of ${first.pageSize} and ${second.pageSize} bytes`,
    );
  }
  return even > odd ? first : second;
}

/** The newest transaction, which LMDB notes in its lock file for other processes, and leaves there; 0 when it cannot be known. */
function lastTransaction(dir: string): number {
  const path = join(dir, "lock.mdb");
  if (!existsSync(path)) return 0;
  const bytes = readFileSync(path);
  if (bytes.length < 16 || bytes.readUInt32LE(0) !== lockMagic) return 0;
  return bytes.readUInt32LE(8) + bytes.readUInt32LE(12) * 2 ** 32;
}

function describe(findings: readonly { readonly page: number; readonly problem: string }[]): string {
  const named = findings.slice(0, namedMax).map(({ page, problem }) => `page ${page}: ${problem}`);
  const more = findings.length - named.length;
  return named.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function damaged(path: string, problem: string): DamagedStore {
  return new DamagedStore(
    `${path} is damaged: ${problem}. Nothing was changed; see "A store that does not open" in docs/reliability.md`,
  );
}
