/**
 * The child process of `coxswain store check`: reads the file first as bytes, then through the
 * native library as a server does. It writes lines of JSON to standard output.
 */
import { DamagedStore } from "../../storage/contract.ts";
import { revisionOf } from "../../storage/embedded/ledger.ts";
import { checkFile, dataFile } from "../../storage/lmdb/check-file.ts";
import { type Damage, readStore } from "../../storage/lmdb/file/read-store.ts";
import { salvage, type Uncertain } from "../../storage/lmdb/file/salvage.ts";
import { StoreFile } from "../../storage/lmdb/file/store-file.ts";
import { openSnapshot } from "../../storage/lmdb/snapshot.ts";
import { describeLosses, formatLosses } from "./repair.ts";
import { writeWhole } from "./write-whole.ts";

/** What the byte-wise reader found. */
export interface StoreReport {
  readonly revision: number;
  /** Objects that can be read. */
  readonly objects: number;
  readonly damage: readonly Damage[];
  readonly leftOut: readonly object[];
  readonly uncertain: readonly Uncertain[];
  /** `leftOut` and `uncertain` as text. */
  readonly losses: string;
}

/** A line of the output: progress in pages, what is read next, or the report. */
export type ReaderMessage =
  | { readonly read: number; readonly of: number }
  | { readonly reading: string }
  | { readonly report: StoreReport };

/** Entries between two `reading` messages. */
const entriesPerMessage = 256;

/**
 * Reads a store and writes messages about it.
 *
 * @throws Error when the file cannot be opened, or the native library cannot read it
 */
export async function readForCheck(dir: string): Promise<void> {
  send({ report: readAsBytes(dir) });
  await readAsServer(dir);
}

function readAsBytes(dir: string): StoreReport {
  const file = new StoreFile(dataFile(dir));
  try {
    const contents = readStore(file, (read, of) => send({ read, of }));
    const saved = salvage(contents);
    const { marks, damage } = contents;
    return {
      revision: marks?.revision ?? saved.revision,
      objects: saved.puts.length,
      damage: [...damage, ...whyNotOpened(dir)],
      ...describeLosses(saved),
      losses: formatLosses(saved, "can be read"),
    };
  } finally {
    file.close();
  }
}

/**
 * The error with which a server rejects the store; other files can show that this one is an older
 * copy.
 */
function whyNotOpened(dir: string): Damage[] {
  try {
    checkFile(dir, { withLog: true });
    return [];
  } catch (error) {
    if (!(error instanceof DamagedStore)) throw error;
    return [{ problem: `a server does not open it: ${error.message}` }];
  }
}

async function readAsServer(dir: string): Promise<void> {
  send({ reading: "the beginning of the file, with LMDB" });
  const { log, current, expiry, transaction, close } = await openSnapshot(dir);
  readTree("the log", log.getRange({ start: 0, transaction }), (position) => `revision ${revisionOf(position)}`);
  readTree("the index of keys", current.getRange({ start: "", transaction }), (key) => JSON.stringify(key));
  readTree("the times at which keys expire", expiry.getRange({ start: [0, 0], transaction }), ([at]) =>
    new Date(at).toISOString(),
  );
  await close();
}

function readTree<Key>(what: string, entries: Iterable<{ readonly key: Key }>, describe: (key: Key) => string): void {
  let count = 0;
  send({ reading: `${what}, with LMDB` });
  for (const { key } of entries)
    if (++count % entriesPerMessage === 0) send({ reading: `${what} after ${describe(key)}, with LMDB` });
}

/** Writes synchronously, so that the parent knows what was read when the native library crashes. */
function send(message: ReaderMessage): void {
  writeWhole(1, Buffer.from(`${JSON.stringify(message)}\n`));
}
