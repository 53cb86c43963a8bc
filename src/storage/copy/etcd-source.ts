/** Reads the objects of a cluster of etcd, to which servers may go on writing. */
import type { Clock } from "../../apimachinery/clock.ts";
import { RevisionCompacted } from "../contract.ts";
import { EtcdClient, type EtcdClientOptions } from "../etcd/api/client.ts";
import type { KeyValue } from "../etcd/api/messages.ts";
import { afterKey } from "../etcd/keys.ts";
import { PageSize } from "../etcd/page-size.ts";
import { answersProgress } from "../etcd/server-version.ts";
import { Watches } from "../etcd/watches.ts";
import { checkPage } from "./check-answer.ts";
import {
  type ChangeFeed,
  type CopiedEntry,
  type HistoricChange,
  isOfServer,
  objectsPrefix,
  type SourcePage,
  type StoreReader,
} from "./contract.ts";
import { EtcdFeed } from "./etcd-feed.ts";
import { type CopiedKeys, copiedKeys } from "./etcd-keys.ts";
import { LeaseTimes } from "./lease-times.ts";

/** A prefix of a cluster. */
export interface EtcdPlace extends EtcdClientOptions {
  /** As in `--etcd-prefix`. */
  readonly prefix: string;
}

/** How long the first call waits for a member. */
const startTimeoutMs = 15_000;
/** How long members may take to answer which version they have. */
const statusTimeoutMs = 2_000;

/** @throws StorageUnavailable when no member answers · Error when a URL or file is not valid */
export async function openEtcdSource(place: EtcdPlace): Promise<StoreReader> {
  const client = new EtcdClient(place);
  try {
    const { id } = await identify(client, place.prefix);
    const hasProgress = await client.statuses(statusTimeoutMs).then(answersProgress, () => false);
    return new EtcdSource(client, { id, prefix: place.prefix, clock: place.clock, hasProgress });
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Names the cluster and the prefix. @throws StorageUnavailable */
export async function identify(client: EtcdClient, prefix: string): Promise<{ id: string; revision: number }> {
  const keys = copiedKeys(prefix);
  const request = { key: keys.first(), range_end: keys.end(), limit: 1, keys_only: true };
  const answer = await client.range(request, startTimeoutMs);
  checkPage(answer, request.key, request.range_end);
  const { cluster_id: cluster, revision } = answer.header;
  return { id: `etcd:${cluster}${keys.toEtcd(objectsPrefix)}`, revision };
}

interface EtcdSourceOptions {
  readonly id: string;
  readonly prefix: string;
  readonly clock: Clock;
  /** Whether all members answer progress requests after all events. */
  readonly hasProgress: boolean;
}

class EtcdSource implements StoreReader {
  readonly id: string;
  readonly isLive = true;
  readonly #client: EtcdClient;
  readonly #keys: CopiedKeys;
  readonly #watches: Watches;
  readonly #leases: LeaseTimes;
  readonly #size = new PageSize();

  constructor(client: EtcdClient, { id, prefix, clock, hasProgress }: EtcdSourceOptions) {
    this.id = id;
    this.#client = client;
    this.#keys = copiedKeys(prefix);
    this.#leases = new LeaseTimes(client, clock);
    this.#watches = new Watches({
      client,
      clock,
      logger: undefined,
      checkCluster: async () => void (await this.current()),
      answersProgress: () => hasProgress,
      allowed: { key: this.#keys.first(), rangeEnd: this.#keys.end() },
    });
  }

  async count(): Promise<number> {
    const range = { key: this.#keys.first(), range_end: this.#keys.end() };
    return (await this.#client.range({ ...range, count_only: true })).count;
  }

  async current(): Promise<number> {
    const range = { key: this.#keys.first(), count_only: true };
    return (await this.#client.range(range)).header.revision;
  }

  async page(after: string | undefined, revision?: number): Promise<SourcePage> {
    const range = { key: this.#keys.first(after), range_end: this.#keys.end() };
    const answer = await this.#client.range({
      ...range,
      limit: this.#size.keys,
      ...(revision !== undefined && { revision }),
    });
    checkPage(answer, range.key, range.range_end);
    const { kvs = [], more, header } = answer;
    const entries: CopiedEntry[] = [];
    let bytes = 0;
    for (const kv of kvs) {
      const entry = await this.#entryOf(kv);
      bytes += kv.value.length;
      if (!isOfServer(entry.key)) entries.push(entry);
    }
    this.#size.observe(kvs.length, bytes);
    const last = kvs.at(-1);
    return {
      entries,
      revision: revision ?? header.revision,
      until: more && last !== undefined ? this.#keys.fromEtcd(last.key) : undefined,
    };
  }

  follow(from: number): ChangeFeed {
    return this.#follow({ key: this.#keys.first(), rangeEnd: this.#keys.end() }, from);
  }

  #follow(range: { readonly key: Buffer; readonly rangeEnd: Buffer }, from: number): ChangeFeed {
    return new EtcdFeed({
      ...range,
      watches: this.#watches,
      from,
      keyOf: (key) => this.#keys.fromEtcd(key),
      expiryOf: (kv) => this.#expiryOf(kv),
    });
  }

  async entry(key: string): Promise<CopiedEntry | undefined> {
    const kv = await this.#read(this.#keys.toEtcd(key));
    return kv && this.#entryOf(kv);
  }

  async *history(key: string): AsyncGenerator<HistoricChange> {
    const etcdKey = this.#keys.toEtcd(key);
    const newest = await this.current();
    const oldest = await this.#oldest(etcdKey, newest);
    const before = oldest > 0 ? await this.#read(etcdKey, oldest) : undefined;
    // The state at the compacted revision is kept, also when the change that made it is older.
    if (before !== undefined) yield { revision: before.mod_revision, value: before.value };
    const feed = this.#followKey(etcdKey, oldest);
    try {
      for (;;) {
        await feed.reach(newest);
        const taken = await feed.take(newest);
        if (taken.length === 0) return;
        for (const { revision, value } of taken) yield { revision, value };
      }
    } finally {
      feed.close();
    }
  }

  async sizeBytes(): Promise<number> {
    return (await this.#client.status()).dbSize;
  }

  async close(): Promise<void> {
    this.#watches.close();
    this.#client.close();
  }

  #followKey(key: Buffer, from: number): ChangeFeed {
    return this.#follow({ key, rangeEnd: afterKey(key) }, from);
  }

  async #read(key: Buffer, revision?: number): Promise<KeyValue | undefined> {
    const answer = await this.#client.range({ key, ...(revision !== undefined && { revision }) });
    checkPage(answer, key, afterKey(key));
    return answer.kvs?.[0];
  }

  /** The compacted revision, which only the error of a watch contains; 0 without one. */
  async #oldest(key: Buffer, newest: number): Promise<number> {
    const feed = this.#followKey(key, 0);
    try {
      await feed.reach(newest);
      return 0;
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error;
      return error.compactedRevision;
    } finally {
      feed.close();
    }
  }

  async #entryOf(kv: KeyValue): Promise<CopiedEntry> {
    const expiresAt = await this.#expiryOf(kv);
    const { mod_revision: revision, value } = kv;
    return { key: this.#keys.fromEtcd(kv.key), revision, value, ...(expiresAt !== undefined && { expiresAt }) };
  }

  async #expiryOf({ lease }: KeyValue): Promise<number | undefined> {
    return lease === 0 ? undefined : this.#leases.get(lease);
  }
}
