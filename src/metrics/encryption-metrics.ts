/**
 * The metrics of encryption at rest.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/storage/value/metrics.go and encrypt/envelope/metrics/metrics.go there.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { EncryptionObserver } from "../storage/encryption/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { hashOf } from "./reload-metrics.ts";
import { Counters, Histograms, measured, single } from "./vectors.ts";

/** Powers of two times the first bound. */
const doubling = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Number((first * 2 ** index).toPrecision(12)));

export const encryptionRows = {
  operations: {
    name: "apiserver_storage_transformation_operations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Encryptions and decryptions of stored values, by resource, direction, prefix of the value and status.",
    labels: ["resource", "status", "transformation_type", "transformer_prefix"],
  },
  durations: {
    name: "apiserver_storage_transformation_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of successful encryptions and decryptions of stored values in seconds.",
    labels: ["transformation_type", "transformer_prefix"],
    buckets: doubling(5e-6, 25),
  },
  misses: {
    name: "apiserver_storage_envelope_transformation_cache_misses_total",
    type: "counter",
    stability: "ALPHA",
    help: "Keys of values that a key management service had to decrypt.",
  },
  generated: {
    name: "apiserver_storage_data_key_generation_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of making a new key for values in seconds.",
    buckets: doubling(5e-6, 14),
  },
  generationFailures: {
    name: "apiserver_storage_data_key_generation_failures_total",
    type: "counter",
    stability: "ALPHA",
    help: "Keys for values that could not be made.",
  },
  calls: {
    name: "apiserver_envelope_encryption_kms_operations_latency_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of calls of key management services in seconds, by status.",
    labels: ["grpc_status_code", "method_name", "provider_name"],
    buckets: doubling(1e-4, 20),
  },
  keyUses: {
    name: "apiserver_envelope_encryption_key_id_hash_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of the keys of key management services, by direction.",
    labels: ["apiserver_id_hash", "key_id_hash", "provider_name", "transformation_type"],
  },
  keyUsedAt: {
    name: "apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds",
    type: "gauge",
    stability: "ALPHA",
    help: "Time of the last use of the keys of key management services, by direction.",
    labels: ["apiserver_id_hash", "key_id_hash", "provider_name", "transformation_type"],
  },
  keyNamedAt: {
    name: "apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds",
    type: "gauge",
    stability: "ALPHA",
    help: "Time at which a key management service last named a key as the one for new values.",
    labels: ["apiserver_id_hash", "key_id_hash", "provider_name"],
  },
  rejected: {
    name: "apiserver_envelope_encryption_invalid_key_id_from_status_total",
    type: "counter",
    stability: "ALPHA",
    help: "Invalid ids of keys that key management services have named.",
    labels: ["error", "provider_name"],
  },
  filled: {
    name: "apiserver_envelope_encryption_dek_cache_fill_percent",
    type: "gauge",
    stability: "ALPHA",
    help: "Part of the cache of keys of a key management service of version 1 that is in use, from 0 to 1.",
  },
  arrivals: {
    name: "apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Time between values of key management services of version 1 in seconds, by direction.",
    labels: ["transformation_type"],
    buckets: doubling(60, 10),
  },
  present: {
    name: "apiserver_envelope_encryption_dek_source_cache_size",
    type: "gauge",
    stability: "ALPHA",
    help: "Keys of values that are decrypted and in memory, by key management service.",
    labels: ["provider_name"],
  },
} as const satisfies MetricRows;

/** The number of keys of services that metrics show; the least recently used one is dropped. */
const keysMax = 100;

interface KeyUse {
  readonly labels: readonly [server: string, key: string, provider: string, direction: string];
  count: number;
  lastMs: number;
}

/** Counts what encryption does. @param identity see `serverIdentity`; shown as a hash */
export function encryptionMetrics({ clock, identity }: { readonly clock: Clock; readonly identity: string }): {
  readonly observer: EncryptionObserver;
  collect(): Metric[];
} {
  const operations = new Counters(encryptionRows.operations);
  const durations = new Histograms(encryptionRows.durations);
  const generated = new Histograms(encryptionRows.generated);
  const calls = new Histograms(encryptionRows.calls);
  const rejected = new Counters(encryptionRows.rejected);
  const arrivals = new Histograms(encryptionRows.arrivals);
  const arrivedMs = new Map<string, number>();
  const uses = new Map<string, KeyUse>();
  const present = new Map<string, number>();
  const server = hashOf(identity);
  let misses = 0;
  let failures = 0;
  let filled = 0;
  const used = (direction: string, provider: string, keyId: string): void => {
    const name = `${direction}\0${provider}\0${keyId}`;
    const use = uses.get(name) ?? {
      labels: [server, hashOf(keyId), provider, direction] as const,
      count: 0,
      lastMs: 0,
    };
    use.count += 1;
    use.lastMs = clock.now();
    uses.delete(name);
    uses.set(name, use);
    const oldest = uses.keys().next().value;
    if (uses.size > keysMax && oldest !== undefined) uses.delete(oldest);
  };
  return {
    observer: {
      transformed(resource, direction, prefix, seconds, code) {
        operations.count([resource, code, direction, prefix]);
        if (code === "OK") durations.observe([direction, prefix], seconds);
      },
      keyMissed() {
        misses += 1;
      },
      keyGenerated(seconds) {
        if (seconds === undefined) failures += 1;
        else generated.observe([], seconds);
      },
      called: (provider, method, code, seconds) => calls.observe([code, method, provider], seconds),
      keyUsed: used,
      keyNamed: (provider, keyId) => used(named, provider, keyId),
      keyRejected: (provider, code) => rejected.count([code, provider]),
      keysPresent: (provider, keys) => void present.set(provider, keys),
      arrived(direction) {
        const now = clock.now();
        arrivals.observe([direction], (now - (arrivedMs.get(direction) ?? now)) / 1000);
        arrivedMs.set(direction, now);
      },
      keysFilled(fraction) {
        filled = fraction;
      },
    },
    collect() {
      const all = [...uses.values()];
      const [byStatus, byUse] = [all.filter(isNamed), all.filter((use) => !isNamed(use))];
      return [
        ...[operations, durations, generated, calls, rejected, arrivals].map((one) => one.metric()),
        single(encryptionRows.misses, misses),
        single(encryptionRows.generationFailures, failures),
        single(encryptionRows.filled, filled),
        measured(
          encryptionRows.keyUses,
          byUse.map(({ labels, count }) => [labels, count] as const),
        ),
        measured(
          encryptionRows.keyUsedAt,
          byUse.map(({ labels, lastMs }) => [labels, lastMs / 1000] as const),
        ),
        measured(
          encryptionRows.keyNamedAt,
          byStatus.map(({ labels: [id, key, provider], lastMs }) => [[id, key, provider], lastMs / 1000] as const),
        ),
        measured(
          encryptionRows.present,
          Array.from(present, ([provider, keys]) => [[provider], keys] as const),
        ),
      ];
    },
  };
}

/** In the place of a direction: the key was named by a status. */
const named = "";
const isNamed = ({ labels }: KeyUse): boolean => labels[3] === named;
