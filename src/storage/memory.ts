import type { Storage } from "./contract.ts";
import { openEmbeddedStorage } from "./embedded/embedded-storage.ts";
import { MemoryLedger } from "./embedded/memory-ledger.ts";
import type { StorageOptions } from "./options.ts";

/** Opens an empty store in memory, for tests and embedding. */
export async function openMemoryStorage(options: StorageOptions): Promise<Storage> {
  return openEmbeddedStorage(new MemoryLedger(), options);
}
