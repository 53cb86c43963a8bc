/** `coxswain store encryption rewrite`: stores every value with the first key of its first provider. */
import { rm } from "node:fs/promises";
import { systemClock } from "../../../apimachinery/clock.ts";
import type { StoreReader } from "../../../storage/copy/contract.ts";
import { copyStore } from "../../../storage/copy/copy.ts";
import { decryptedReader, encryptedTarget } from "../../../storage/copy/encrypted-ends.ts";
import { openLmdbTarget } from "../../../storage/copy/lmdb-target.ts";
import { type Rewritten, rewriteStale } from "../../../storage/copy/rewrite-stale.ts";
import type { Encryption } from "../../../storage/encryption/contract.ts";
import { encryptStorage } from "../../../storage/encryption/encrypted-storage.ts";
import { openEtcdStorage } from "../../../storage/etcd/etcd-storage.ts";
import { etcdDefaults } from "../../../storage/etcd/options.ts";
import { replaceStore } from "../../../storage/lmdb/write-store.ts";
import { valueBytesMaxDefault } from "../../../storage/options.ts";
import type { Output } from "../../output.ts";
import { exitDamaged, exitWhole } from "../contract.ts";
import { parseLocation, type StoreLocation } from "../location.ts";
import { type EtcdFiles, openReader, tlsOf } from "../open-reader.ts";
import { progressBar } from "../progress-bar.ts";
import { findStore } from "../store-directory.ts";
import { openStoreEncryption } from "./open-encryption.ts";
import type { StatusOptions } from "./status.ts";

export type RewriteOptions = StatusOptions & EtcdFiles & { readonly encryptionProviderConfig: string };

interface Rewrite {
  /** Decrypts. */
  readonly reader: StoreReader;
  readonly encryption: Encryption;
  readonly bar: ReturnType<typeof progressBar>;
}

/**
 * @returns the exit code
 * @throws Error when an object cannot be decrypted, before anything was changed on disk; the command can be repeated
 */
export async function rewriteStore(store: string, options: RewriteOptions, output: Output): Promise<number> {
  const location = parseLocation(store, tlsOf(options));
  const bar = progressBar(output);
  const source = await openReader(location);
  try {
    const encryption = await openStoreEncryption(options.encryptionProviderConfig, location);
    try {
      const rewrite = { reader: decryptedReader(source, encryption), encryption, bar };
      const done =
        location.engine === "etcd" ? await rewriteEtcd(location, rewrite) : await rewriteDirectory(location, rewrite);
      bar.end();
      output.out(options.output === "json" ? `${JSON.stringify(done, undefined, 2)}\n` : describe(done));
      return done.expiring > 0 ? exitDamaged : exitWhole;
    } finally {
      encryption.close();
    }
  } finally {
    bar.end();
    await source.close();
  }
}

function describe({ objects, rewritten, expiring, changed }: Rewritten): string {
  const others = [
    ...(expiring > 0 ? [`${expiring} that expire by themselves were left as they are`] : []),
    ...(changed > 0 ? [`${changed} were written by others meanwhile`] : []),
  ];
  return `${rewritten} of ${objects} objects were rewritten${others.map((text) => `; ${text}`).join("")}\n`;
}

/**
 * A new file without history takes the place of the old one, whose unused pages still have what was in them. The lock of
 * the reader keeps servers away until then.
 */
async function rewriteDirectory(
  { dataDir }: StoreLocation & { readonly engine: "lmdb" },
  { reader, encryption, bar }: Rewrite,
): Promise<Rewritten> {
  const dir = findStore(dataDir);
  const written = `${dir}.rewritten`;
  await rm(written, { recursive: true, force: true }); // Complete, but of an earlier attempt.
  const target = await openLmdbTarget(written, reader.id);
  try {
    const { objects } = await copyStore({
      source: reader,
      target: encryptedTarget(target, encryption),
      clock: systemClock,
      skipDamaged: false,
      follow: false,
      report: {
        raising() {},
        passed: (done, of) => bar.show("Rewriting", done, of),
        restarted() {},
        following() {},
        verifying: (done, of) => bar.show("Verifying", done, of),
        stillWritten() {},
      },
    });
    await replaceStore(dir, { by: written });
    return { objects, rewritten: objects, expiring: 0, changed: 0 };
  } finally {
    await target.close();
  }
}

/** Servers can go on with the store. */
async function rewriteEtcd(
  { place }: StoreLocation & { readonly engine: "etcd" },
  { reader, encryption, bar }: Rewrite,
): Promise<Rewritten> {
  const storage = encryptStorage(
    await openEtcdStorage({
      ...etcdDefaults,
      ...place,
      valueBytesMax: valueBytesMaxDefault,
      compactionIntervalMs: 0,
      sizePollMs: 0,
      startTimeoutMs: 15_000,
    }),
    encryption,
  );
  try {
    const total = await reader.count();
    return await rewriteStale(reader, storage, (objects) => bar.show("Rewriting", objects, total));
  } finally {
    await storage.close();
  }
}
