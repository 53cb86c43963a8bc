/** When leases of etcd expire. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Integer } from "../../lib/json/values.ts";
import type { EtcdClient } from "../etcd/api/client.ts";

/** Leases that are remembered. */
const leasesMax = 10_000;
/** A client may renew a lease, so its time is read again. */
const knownMs = 10_000;

interface Known {
  readonly readAt: number;
  readonly expiresAt: Promise<number>;
}

export class LeaseTimes {
  readonly #client: Pick<EtcdClient, "leaseTimeToLive">;
  readonly #clock: Clock;
  readonly #known = new Map<Integer, Known>();

  constructor(client: Pick<EtcdClient, "leaseTimeToLive">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * @returns milliseconds since 1970; 0 when the lease has expired
   * @throws StorageUnavailable
   */
  get(lease: Integer): Promise<number> {
    const now = this.#clock.now();
    const known = this.#known.get(lease);
    if (known !== undefined && now - known.readAt < knownMs) return known.expiresAt;
    if (this.#known.size >= leasesMax) this.#known.clear();
    const expiresAt = this.#client.leaseTimeToLive(lease).then(({ TTL }) => (TTL > 0 ? now + TTL * 1000 : 0));
    this.#known.set(lease, { readAt: now, expiresAt });
    expiresAt.catch(() => this.#known.delete(lease));
    return expiresAt;
  }
}
