/** Opens the encryption of stored values. Loaded only with an EncryptionConfiguration. */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { resourcesOfKeys } from "../catalog/resource-of-key.ts";
import type { HealthCheck } from "../http/endpoints/health.ts";
import { encryptionMetrics } from "../metrics/encryption-metrics.ts";
import type { MetricsCollector } from "../metrics/metrics.ts";
import { reloadMetrics } from "../metrics/reload-metrics.ts";
import type { Storage } from "../storage/contract.ts";
import { encryptStorage } from "../storage/encryption/encrypted-storage.ts";
import { type FollowedEncryption, followEncryption } from "../storage/encryption/follow-encryption.ts";
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

interface Needs {
  readonly options: ServerOptions;
  readonly gates: FeatureGates;
  readonly closers: Closers;
}

/** @throws Error when the file cannot be read, or ConfigurationError with upstream's message */
export async function openServerEncryption(
  file: string,
  { options, gates, closers }: Needs,
): Promise<ServerEncryption> {
  const { clock, logger, storage, etcd, reloadsEncryptionConfig: reloads = false } = options;
  const identified = { clock, identity: identityOf(options) };
  const counted = encryptionMetrics(identified);
  const reloadsCounted = reloadMetrics("encryption", identified);
  const keys = keysWithPrefix((storage === "etcd" && etcd?.prefix) || "/registry");
  const encryption = await followEncryption({
    file,
    reloads,
    allowsFirstKms: gates.enabled("KMSv1"),
    reloadObserver: reloadsCounted,
    resourceOf: resourcesOfKeys(),
    pathOf: keys.pathOf,
    clock,
    logger,
    observer: counted.observer,
  });
  closers.add(() => encryption.close());
  return {
    encrypt: (inner) => encryptStorage(inner, encryption),
    checks: checksOf(encryption, reloads),
    collect: () => [...counted.collect(), ...reloadsCounted.collect()],
  };
}

/** One check for all services; one for each while one of them is of version 1 and the file is not read again. */
function checksOf(encryption: FollowedEncryption, reloads: boolean): HealthCheck[] {
  const services = encryption.services();
  const named = (name: string, check: HealthCheck["check"]): HealthCheck => ({
    name,
    check,
    endpoints: ["readyz", "healthz"],
  });
  if (!reloads && services.some(({ apiVersion }) => apiVersion === "v1"))
    return services.map((service, index) => named(`kms-provider-${index}`, () => service.check()));
  return reloads || services.length > 0 ? [named("kms-providers", () => encryption.check())] : [];
}
