/** Opens a store of any engine for reading. */
import type { StoreReader } from "../../storage/copy/contract.ts";
import type { EtcdTls } from "../../storage/etcd/api/endpoints.ts";
import { parseLocation, type StoreLocation } from "./location.ts";
import { findStore } from "./store-directory.ts";

/** The files of TLS in the command line. */
export interface EtcdFiles {
  readonly cafile?: string;
  readonly certfile?: string;
  readonly keyfile?: string;
}

/** @returns the files as options of the client */
export function tlsOf({ cafile, certfile, keyfile }: EtcdFiles): EtcdTls {
  return {
    ...(cafile !== undefined && { caFile: cafile }),
    ...(certfile !== undefined && { certFile: certfile }),
    ...(keyfile !== undefined && { keyFile: keyfile }),
  };
}

/**
 * Opens a store, which is not changed.
 * @throws DirectoryInUse when a server uses the directory · DamagedStore · StorageUnavailable · Error
 */
export async function openReader(location: StoreLocation): Promise<StoreReader> {
  if (location.engine === "etcd") {
    const { openEtcdSource } = await import("../../storage/copy/etcd-source.ts");
    return openEtcdSource(location.place);
  }
  const dir = findStore(location.dataDir);
  const { openLmdbSource } = await import("../../storage/copy/lmdb-source.ts");
  return openLmdbSource(dir);
}

/** The files of a command that reads a store. */
export interface ReaderFiles extends EtcdFiles {
  /** An EncryptionConfiguration: values are decrypted with its keys. */
  readonly encryptionProviderConfig?: string;
}

/** Opens a store during `run`. @throws as {@link openReader} and `run`, and for a configuration that is not valid */
export async function withReader<Result>(
  store: string,
  files: ReaderFiles,
  run: (reader: StoreReader) => Promise<Result>,
): Promise<Result> {
  const location = parseLocation(store, tlsOf(files));
  const reader = await openReader(location);
  try {
    if (files.encryptionProviderConfig === undefined) return await run(reader);
    const { openStoreEncryption, decryptedReader } = await import("./encryption/open-encryption.ts");
    const encryption = await openStoreEncryption(files.encryptionProviderConfig, location);
    try {
      return await run(decryptedReader(reader, encryption));
    } finally {
      encryption.close();
    }
  } finally {
    await reader.close();
  }
}
