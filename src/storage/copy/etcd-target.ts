/**
 * Writes the objects of a copy to a cluster of etcd. A key outside of the prefix marks the copy; each
 * transaction checks it, so that two copies do not write at the same time.
 */
import type { Integer } from "../../lib/json/values.ts";
import { RevisionCompacted, StorageUnavailable, ValueTooLarge } from "../contract.ts";
import { EtcdClient } from "../etcd/api/client.ts";
import { compareTarget, type KeyValue, type Operation, type TxnResponse } from "../etcd/api/messages.ts";
import { Leases } from "../etcd/leases.ts";
import { PageSize } from "../etcd/page-size.ts";
import { checkPage } from "./check-answer.ts";
import type { CopiedChange, CopyMarker, CopyTarget, TargetEntry } from "./contract.ts";
import { type CopiedKeys, copiedKeys } from "./etcd-keys.ts";
import { type EtcdPlace, identify } from "./etcd-source.ts";
import { batchesOf, readMarker, writeMarker } from "./marker.ts";

/** etcd's default limits of a transaction are 128 operations and 1.5 MiB. */
const batch = { changes: 100, bytes: 1 << 20 };
/** Transactions that run at the same time. */
const runningMax = 64;
/** Keys of similar expiry times join a lease, which lives so much longer. */
const leaseReuseSeconds = 10;
const attemptsMax = 20;
const retryMs = 250;

export interface EtcdTargetPlace extends EtcdPlace {
  /** The most writes that raise the revision; etcd has no other call for it. */
  readonly raiseMax: number;
}

/**
 * @param source the source's `CopySource.id`
 * @throws Error when the prefix has keys that are not those of an unfinished copy of the source
 * @throws StorageUnavailable
 */
export async function openEtcdTarget(place: EtcdTargetPlace, source: string): Promise<CopyTarget> {
  const client = new EtcdClient(place);
  try {
    const { id, revision } = await identify(client, place.prefix);
    if (id === source) throw new Error("the source and the target are the same");
    const markerKey = Buffer.from(`coxswain_copy${place.prefix}`);
    const kv = (await client.range({ key: markerKey })).kvs?.[0];
    const marker = kv && readMarker(kv.value, { source, target: place.servers.join() });
    if (marker === undefined) await checkEmpty(client, copiedKeys(place.prefix), place);
    return new EtcdTarget(client, place, { markerKey, kv, marker, revision });
  } catch (error) {
    client.close();
    throw error;
  }
}

async function checkEmpty(client: EtcdClient, keys: CopiedKeys, { prefix }: EtcdPlace): Promise<void> {
  const { count } = await client.range({ key: keys.first(), range_end: keys.end(), count_only: true });
  if (count > 0) throw new Error(`the target has ${count} keys with the prefix ${prefix}, and nothing is overwritten`);
}

interface Start {
  readonly markerKey: Buffer;
  readonly kv: KeyValue | undefined;
  readonly marker: CopyMarker | undefined;
  readonly revision: number;
}

class EtcdTarget implements CopyTarget {
  readonly marker: CopyMarker | undefined;
  readonly #client: EtcdClient;
  readonly #place: EtcdTargetPlace;
  readonly #keys: CopiedKeys;
  readonly #leases: Leases;
  readonly #size = new PageSize();
  readonly #markerKey: Buffer;
  /** The key whose writes raise the revision. */
  readonly #raiseKey: Buffer;
  #markerRevision: number;
  #revision: number;

  constructor(client: EtcdClient, place: EtcdTargetPlace, { markerKey, kv, marker, revision }: Start) {
    this.#client = client;
    this.#place = place;
    this.#keys = copiedKeys(place.prefix);
    this.#leases = new Leases({ client, clock: place.clock, reuseSeconds: leaseReuseSeconds });
    this.#markerKey = markerKey;
    this.#raiseKey = Buffer.from(`coxswain_copy_revision${place.prefix}`);
    this.#markerRevision = kv?.mod_revision ?? 0;
    this.marker = marker;
    this.#revision = revision;
  }

  get revision(): number {
    return this.#revision;
  }

  async mark(marker: CopyMarker): Promise<void> {
    const value = writeMarker(marker);
    const { header, succeeded } = await this.#txn([{ request_put: { key: this.#markerKey, value } }], async () => {
      // The answer of an earlier attempt may have been lost.
      const kv = (await this.#client.range({ key: this.#markerKey })).kvs?.[0];
      if (kv?.value.equals(value) !== true) return false;
      this.#markerRevision = kv.mod_revision;
      return true;
    });
    if (succeeded) this.#markerRevision = header.revision;
  }

  async raise(revision: number, progress?: (done: number, of: number) => void): Promise<void> {
    const from = this.#revision;
    if (revision - from > this.#place.raiseMax)
      throw new Error(
        `the revision of the target must be raised by ${revision - from}, and etcd can only count up: raise it with "etcdutl snapshot restore --bump-revision" first, or allow as many writes with --raise-max`,
      );
    while (this.#revision < revision) {
      const count = Math.min(runningMax, revision - this.#revision);
      const put: Operation = { request_put: { key: this.#raiseKey, value: Buffer.alloc(0) } };
      await Promise.all(Array.from({ length: count }, () => this.#txn([put])));
      progress?.(Math.min(this.#revision, revision) - from, revision - from);
    }
  }

  async *entries(after: string | undefined, until: string | undefined): AsyncGenerator<TargetEntry> {
    const end = this.#keys.end(until);
    for (let key = this.#keys.first(after); key.compare(end) < 0; ) {
      const answer = await this.#client.range({ key, range_end: end, limit: this.#size.keys });
      checkPage(answer, key, end);
      const { kvs = [], more } = answer;
      let bytes = 0;
      for (const kv of kvs) {
        bytes += kv.value.length;
        yield { key: this.#keys.fromEtcd(kv.key), value: kv.value, mayExpire: kv.lease !== 0 };
      }
      this.#size.observe(kvs.length, bytes);
      const last = kvs.at(-1);
      if (!more || last === undefined) return;
      key = this.#keys.first(this.#keys.fromEtcd(last.key));
    }
  }

  async write(changes: readonly CopiedChange[]): Promise<void> {
    const batches = batchesOf(changes, batch);
    for (let at = 0; at < batches.length; at += runningMax)
      await Promise.all(batches.slice(at, at + runningMax).map((one) => this.#writeBatch(one)));
  }

  async finish(): Promise<number> {
    // Compacted before the marker is removed, so that an interrupted end is repeated.
    const compacted = this.#revision;
    await this.#repeated(() => this.#client.compact(compacted)).catch((error: unknown) => {
      if (!(error instanceof RevisionCompacted)) throw error;
    });
    const remove = [this.#raiseKey, this.#markerKey].map((key): Operation => ({ request_delete_range: { key } }));
    await this.#txn(remove, async () => {
      const { count } = await this.#client.range({ key: this.#markerKey, count_only: true });
      return count === 0;
    });
    return this.#revision;
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  async #writeBatch(changes: readonly CopiedChange[]): Promise<void> {
    const operations: Operation[] = [];
    for (const { key: text, value, expiresAt } of changes) {
      const key = this.#keys.toEtcd(text);
      if (value === null) operations.push({ request_delete_range: { key } });
      else operations.push({ request_put: { key, value, ...(await this.#leaseOf(expiresAt)) } });
    }
    try {
      await this.#txn(operations);
    } catch (error) {
      if (!(error instanceof ValueTooLarge)) throw error;
      const keys = changes.map(({ key }) => key).join(", ");
      throw new Error(`etcd does not accept the size of ${keys}: raise its --max-request-bytes`, { cause: error });
    }
  }

  async #leaseOf(expiresAt: number | undefined): Promise<{ lease?: Integer }> {
    if (expiresAt === undefined) return {};
    const seconds = Math.max(1, Math.ceil((expiresAt - this.#place.clock.now()) / 1000));
    return { lease: await this.#repeated(() => this.#leases.get(seconds)) };
  }

  /**
   * Makes a transaction, which may be made twice when an answer is lost.
   * @param isMade whether an earlier attempt was made although the marker has changed
   * @throws Error when another copy writes to the target
   */
  async #txn(success: readonly Operation[], isMade?: () => Promise<boolean>): Promise<TxnResponse> {
    const compare = [{ target: compareTarget.modRevision, key: this.#markerKey, mod_revision: this.#markerRevision }];
    const answer = await this.#repeated(() => this.#client.txn({ compare, success, failure: [] }));
    if (!Number.isSafeInteger(answer.header?.revision)) throw new StorageUnavailable("etcd answered no revision");
    if (!answer.succeeded && (isMade === undefined || !(await isMade())))
      throw new Error("another copy writes to the target, or has removed its marker");
    this.#revision = Math.max(this.#revision, answer.header.revision);
    return answer;
  }

  async #repeated<T>(call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || attempt >= attemptsMax) throw error;
        await new Promise<void>((resolve) => void setTimeout(resolve, retryMs));
      }
    }
  }
}
