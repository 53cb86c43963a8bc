import type { Storage } from "./contract.ts";
import { openEmbeddedStorage } from "./embedded/embedded-storage.ts";
import { MemoryLedger } from "./embedded/memory-ledger.ts";
import type { StorageOptions } from "./options.ts";

/** The engine for tests and embedding: everything in this process, gone with it. */
export async function openMemoryStorage(options: StorageOptions): Promise<Storage> {
  return openEmbeddedStorage(new MemoryLedger(), options);
}
