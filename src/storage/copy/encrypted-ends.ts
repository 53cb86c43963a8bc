/** Stores whose values are decrypted when they are read, and encrypted when they are written. */
import type { Stored } from "../contract.ts";
import type { Encryption } from "../encryption/contract.ts";
import { isReady, opened, prepare, sealed } from "../encryption/stored-values.ts";
import type { CopiedChange, CopiedEntry, CopyTarget, HistoricChange, StoreReader, TargetEntry } from "./contract.ts";

/** @param reader its values that cannot be decrypted are damaged; it is closed together with the new one */
export function decryptedReader(reader: StoreReader, encryption: Encryption): StoreReader {
  const read = async (entry: CopiedEntry): Promise<CopiedEntry> => {
    const { unreadable, ...found } = await open<Stored>(entry, encryption);
    return unreadable === undefined
      ? found
      : { ...found, value: nothing, damage: `it cannot be decrypted: ${unreadable}` };
  };
  return {
    id: reader.id,
    isLive: reader.isLive,
    count: () => reader.count(),
    current: () => reader.current(),
    async page(after, revision) {
      const page = await reader.page(after, revision);
      const entries: CopiedEntry[] = [];
      for (const entry of page.entries) entries.push(await read(entry));
      return { ...page, entries };
    },
    follow: (from) => reader.follow(from),
    async entry(key) {
      const entry = await reader.entry(key);
      return entry && read(entry);
    },
    async *history(key): AsyncGenerator<HistoricChange> {
      for await (const { revision, value } of reader.history(key)) {
        if (value === null) yield { revision, value };
        else yield { revision, value: (await open({ key, revision, value }, encryption)).value };
      }
    },
    sizeBytes: () => reader.sizeBytes(),
    close: () => reader.close(),
  };
}

/** @returns a target that encrypts, and whose entries are decrypted */
export function encryptedTarget(target: CopyTarget, encryption: Encryption): CopyTarget {
  return {
    get marker() {
      return target.marker;
    },
    get revision() {
      return target.revision;
    },
    mark: (marker) => target.mark(marker),
    raise: (revision, progress) => target.raise(revision, progress),
    async *entries(after, until): AsyncGenerator<TargetEntry> {
      for await (const entry of target.entries(after, until)) {
        const { value, unreadable } = await open<Stored>(
          { key: entry.key, value: entry.value, revision: 0 },
          encryption,
        );
        yield { ...entry, value, ...(unreadable !== undefined && { damage: unreadable }) };
      }
    },
    async write(changes) {
      const encrypted: CopiedChange[] = [];
      for (const change of changes) {
        const found = change.value === null ? undefined : encryption.of(change.key);
        if (found === undefined || change.value === null) encrypted.push(change);
        else encrypted.push({ ...change, value: await sealed(change.value, found) });
      }
      return target.write(encrypted);
    },
    finish: () => target.finish(),
    close: () => target.close(),
  };
}

const nothing = Buffer.alloc(0);

async function open<One extends Stored>(stored: One, encryption: Encryption): Promise<One> {
  if (!isReady(stored, encryption)) await prepare(stored, encryption);
  return opened(stored, encryption, false);
}
