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

/** Opens a store during `run`. @throws as {@link openReader} and `run` */
export async function withReader<Result>(
  store: string,
  files: EtcdFiles,
  run: (reader: StoreReader) => Promise<Result>,
): Promise<Result> {
  const reader = await openReader(parseLocation(store, tlsOf(files)));
  try {
    return await run(reader);
  } finally {
    await reader.close();
  }
}
