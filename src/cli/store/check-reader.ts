/** The reading process of `coxswain store check`: first as bytes, then as a server does, through the native library. Writes lines of JSON. */
import { writeSync } from "node:fs";
import { DamagedStore } from "../../storage/contract.ts";
import { revisionOf } from "../../storage/embedded/ledger.ts";
import { checkFile, dataFile } from "../../storage/lmdb/check-file.ts";
import { type Damage, readStore } from "../../storage/lmdb/file/read-store.ts";
import { salvage, type Uncertain } from "../../storage/lmdb/file/salvage.ts";
import { StoreFile } from "../../storage/lmdb/file/store-file.ts";
import { openSnapshot } from "../../storage/lmdb/snapshot.ts";
import { describeLosses, formatLosses } from "./repair.ts";

export interface StoreReport {
  readonly revision: number;
  /** Those that can be read. */
  readonly objects: number;
  readonly damage: readonly Damage[];
  readonly leftOut: readonly object[];
  readonly uncertain: readonly Uncertain[];
  /** The last two for people. */
  readonly losses: string;
}

export type ReaderMessage =
  | { readonly read: number; readonly of: number }
  | { readonly reading: string }
  | { readonly report: StoreReport };

/** Entries between two messages of what is being read. */
const entriesPerMessage = 256;

/** @throws Error when the file cannot be opened, or the native library cannot read it */
export async function readForCheck(dir: string): Promise<void> {
  say({ report: readAsBytes(dir) });
  await readAsServer(dir);
}

function readAsBytes(dir: string): StoreReport {
  const file = new StoreFile(dataFile(dir));
  try {
    const contents = readStore(file, (read, of) => say({ read, of }));
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

/** What ends the start of a server, among it what only other files show: an older copy, for one. */
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
  say({ reading: "the beginning of the file, with LMDB" });
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
  say({ reading: `${what}, with LMDB` });
  for (const { key } of entries)
    if (++count % entriesPerMessage === 0) say({ reading: `${what} after ${describe(key)}, with LMDB` });
}

/** At once, so that it is known when the next thing ends the process. */
function say(message: ReaderMessage): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}
