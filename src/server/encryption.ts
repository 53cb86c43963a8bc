/** Opens the encryption of stored values. Loaded only with an EncryptionConfiguration. */
import { resourcesOfKeys } from "../catalog/resource-of-key.ts";
import type { HealthCheck } from "../http/endpoints/health.ts";
import { encryptionMetrics } from "../metrics/encryption-metrics.ts";
import type { MetricsCollector } from "../metrics/metrics.ts";
import { reloadMetrics } from "../metrics/reload-metrics.ts";
import type { Storage } from "../storage/contract.ts";
import { encryptStorage } from "../storage/encryption/encrypted-storage.ts";
import { followEncryption } from "../storage/encryption/follow-encryption.ts";
import { keysWithPrefix } from "../storage/etcd/keys.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";
import { identityOf } from "./peers.ts";

/** The encryption of a server. */
export interface ServerEncryption {
  /** @returns the store with encrypted values */
  encrypt(storage: Storage): Storage;
  /** Those of key management services. */
  readonly checks: readonly HealthCheck[];
  collect: MetricsCollector;
}

/** @throws Error when the file cannot be read, or ConfigurationError with upstream's message */
export async function openServerEncryption(
  file: string,
  options: ServerOptions,
  closers: Closers,
): Promise<ServerEncryption> {
  const { clock, logger, storage, etcd, reloadsEncryptionConfig: reloads = false } = options;
  const identified = { clock, identity: identityOf(options) };
  const counted = encryptionMetrics(identified);
  const reloadsCounted = reloadMetrics("encryption", identified);
  const keys = keysWithPrefix((storage === "etcd" && etcd?.prefix) || "/registry");
  const encryption = await followEncryption({
    file,
    reloads,
    reloadObserver: reloadsCounted,
    resourceOf: resourcesOfKeys(),
    pathOf: (key) => keys.toEtcd(key).toString(),
    clock,
    logger,
    observer: counted.observer,
  });
  closers.add(() => encryption.close());
  const all: HealthCheck = {
    name: "kms-providers",
    check: () => encryption.check(),
    endpoints: ["readyz", "healthz"],
  };
  return {
    encrypt: (inner) => encryptStorage(inner, encryption),
    checks: reloads || encryption.services().length > 0 ? [all] : [],
    collect: () => [...counted.collect(), ...reloadsCounted.collect()],
  };
}
