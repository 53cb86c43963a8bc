/** Writes values again that a store with new keys would store in another way. */
import type { Storage } from "../contract.ts";
import type { StoreReader } from "./contract.ts";

/** What was done. */
export interface Rewritten {
  /** Objects that have been read. */
  readonly objects: number;
  readonly rewritten: number;
  /** Objects that expire by themselves, which are left as they are. */
  readonly expiring: number;
  /** Objects that other clients have changed meanwhile, so that they are stored with the newest key. */
  readonly changed: number;
}

/**
 * Replaces a value only if it is still the one that was read, so that servers can go on with the store.
 *
 * @param reader decrypts
 * @param storage encrypts
 * @param passed receives the number of objects that have been read
 * @throws Error when an object cannot be decrypted; those before it are rewritten
 */
export async function rewriteStale(
  reader: StoreReader,
  storage: Storage,
  passed: (objects: number) => void,
): Promise<Rewritten> {
  let [objects, rewritten, expiring, changed] = [0, 0, 0, 0];
  for (let after: string | undefined, done = false; !done; ) {
    const { entries, until } = await reader.page(after);
    for (const { key, revision, value, damage, isStale, expiresAt } of entries) {
      objects++;
      if (damage !== undefined) throw new Error(`${key}: ${damage}`);
      if (isStale !== true) continue;
      if (expiresAt !== undefined) expiring++;
      else if ((await storage.commit([{ key, revision }], [{ key, value }])).ok) rewritten++;
      else changed++;
    }
    passed(objects);
    after = until;
    done = until === undefined;
  }
  return { objects, rewritten, expiring, changed };
}
