/**
 * Leases of keys that expire. Keys that are written in short succession share one, because each
 * lease costs etcd work. Source: `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/lease_manager.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Integer } from "../../lib/json/values.ts";
import type { EtcdClient } from "./api/client.ts";

/** Keys of one lease. */
const keysMax = 1000;
/** A lease that others join lives so much longer, in parts of its time to live. */
const extensionPart = 0.05;

interface Lease {
  readonly id: Promise<Integer>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  keys: number;
}

export class Leases {
  readonly #client: Pick<EtcdClient, "grantLease">;
  readonly #clock: Clock;
  readonly #reuseSeconds: number;
  /** The last lease of each time to live. */
  readonly #last = new Map<number, Lease>();

  /** @param reuseSeconds how long keys join a lease */
  constructor(client: Pick<EtcdClient, "grantLease">, clock: Clock, reuseSeconds: number) {
    this.#client = client;
    this.#clock = clock;
    this.#reuseSeconds = reuseSeconds;
  }

  /**
   * Returns a lease that lives at least as long, and at most 5 % longer.
   * @throws StorageUnavailable
   */
  get(ttlSeconds: number): Promise<Integer> {
    const now = this.#clock.now();
    const last = this.#last.get(ttlSeconds);
    if (last !== undefined && last.keys < keysMax && now + ttlSeconds * 1000 <= last.expiresAt) {
      last.keys++;
      return last.id;
    }
    const granted = ttlSeconds + Math.floor(Math.min(this.#reuseSeconds, ttlSeconds * extensionPart));
    const id = this.#client.grantLease(granted).then(({ ID }) => ID);
    const lease: Lease = { id, expiresAt: now + granted * 1000, keys: 1 };
    this.#forgetExpired(now);
    this.#last.set(ttlSeconds, lease);
    id.catch(() => {
      if (this.#last.get(ttlSeconds) === lease) this.#last.delete(ttlSeconds);
    });
    return id;
  }

  #forgetExpired(now: number): void {
    for (const [ttl, { expiresAt }] of this.#last) if (expiresAt <= now) this.#last.delete(ttl);
  }
}
