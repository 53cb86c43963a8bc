/** Reads the objects of a backup, so that a store is copied while its server goes on. */
import { RevisionCompacted } from "../contract.ts";
import { compareKeys } from "../embedded/key-order.ts";
import { revisionOf } from "../embedded/ledger.ts";
import { type BackupEntry, readBackup } from "../lmdb/backup/read-backup.ts";
import {
  type ChangeFeed,
  type CopiedEntry,
  type CopySource,
  isOfServer,
  objectsPrefix,
  type SourcePage,
} from "./contract.ts";

const page = { entries: 4000, bytes: 4 << 20 };
const nothing = Buffer.alloc(0);

/**
 * Opens a backup. Its pages can be read once, in order.
 * @param id that of the store from which it was taken
 * @throws DamagedBackup
 */
export function openBackupSource(file: string, id: string): CopySource {
  let revision = 0;
  let objects = 0;
  const expiries = new Map<number, number>();
  for (const entry of readBackup(file)) {
    if (entry.kind === "begin") revision = entry.revision;
    else if (entry.kind === "record") objects++;
    else if (entry.kind === "expiry") expiries.set(entry.expiry.position, entry.expiry.at);
  }
  const entries = copiedEntries(readBackup(file), expiries);
  const check = async (from: number): Promise<void> => {
    if (from !== revision) throw new RevisionCompacted(revision);
  };
  return {
    id,
    isLive: false,
    count: async () => objects,
    current: async () => revision,
    page: async (after) => ({ ...nextPage(entries, after), revision }),
    follow: (from): ChangeFeed => ({
      received: revision,
      hasChanges: false,
      take: () => check(from).then(() => []),
      reach: () => check(from),
      close() {},
    }),
    async close() {
      entries.return();
    },
  };
}

function nextPage(all: Iterator<CopiedEntry, void>, after: string | undefined): Omit<SourcePage, "revision"> {
  const entries: CopiedEntry[] = [];
  let bytes = 0;
  while (entries.length < page.entries && bytes < page.bytes) {
    const next = all.next();
    if (next.done === true) return { entries, until: undefined };
    if (after !== undefined && compareKeys(next.value.key, after) <= 0) continue;
    entries.push(next.value);
    bytes += next.value.value.length;
  }
  return { entries, until: entries.at(-1)?.key };
}

function* copiedEntries(
  backup: Iterable<BackupEntry>,
  expiries: ReadonlyMap<number, number>,
): Generator<CopiedEntry, void> {
  for (const entry of backup) {
    const copied = copiedEntry(entry, expiries);
    if (copied?.key.startsWith(objectsPrefix) === true && !isOfServer(copied.key)) yield copied;
  }
}

function copiedEntry(entry: BackupEntry, expiries: ReadonlyMap<number, number>): CopiedEntry | undefined {
  if (entry.kind === "damaged") {
    const { key, revision = 0, problem } = entry.object;
    return { key, revision, value: nothing, damage: problem };
  }
  if (entry.kind !== "record") return undefined;
  const { key, position, value, seal } = entry.change;
  const expiresAt = expiries.get(position);
  return {
    key,
    revision: revisionOf(position),
    value,
    ...(seal !== undefined && { seal }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
