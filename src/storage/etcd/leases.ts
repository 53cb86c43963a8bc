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

interface LeasesOptions {
  readonly client: Pick<EtcdClient, "grantLease">;
  readonly clock: Clock;
  /** How long keys join a lease. */
  readonly reuseSeconds: number;
  /** Called with each new lease. @param keys those of the one that it replaces, and the first of its own */
  leased?(keys: number): void;
}

export class Leases {
  readonly #options: LeasesOptions;
  /** The last lease of each time to live. */
  readonly #last = new Map<number, Lease>();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /**
   * Returns a lease that lives at least as long, and at most 5 % longer.
   * @throws StorageUnavailable
   */
  get(ttlSeconds: number): Promise<Integer> {
    const { client, clock, reuseSeconds } = this.#options;
    const now = clock.now();
    const last = this.#last.get(ttlSeconds);
    if (last !== undefined && last.keys < keysMax && now + ttlSeconds * 1000 <= last.expiresAt) {
      last.keys++;
      return last.id;
    }
    const granted = ttlSeconds + Math.floor(Math.min(reuseSeconds, ttlSeconds * extensionPart));
    const id = client.grantLease(granted).then(({ ID }) => {
      this.#options.leased?.((last?.keys ?? 0) + 1);
      return ID;
    });
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
