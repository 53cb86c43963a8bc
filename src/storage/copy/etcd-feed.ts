/** The changes of a range of etcd. Beyond a limit of bytes the watch ends, and continues when they are taken. */
import { type RevisionCompacted, StorageUnavailable } from "../contract.ts";
import type { KeyValue, WatchEvent } from "../etcd/api/messages.ts";
import type { Watch } from "../etcd/watch-stream.ts";
import type { Watches } from "../etcd/watches.ts";
import { type ChangeFeed, type CopiedChange, isOfServer } from "./contract.ts";

export interface EtcdFeedOptions {
  readonly watches: Watches;
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  readonly from: number;
  /** @throws StorageUnavailable when it is no key of the range */
  readonly keyOf: (key: Buffer) => string;
  readonly expiryOf: (kv: KeyValue) => Promise<number | undefined>;
  readonly waitingBytesMax?: number;
}

interface Waiting {
  readonly revision: number;
  readonly events: readonly WatchEvent[];
  readonly bytes: number;
}

const waitingBytesMaxDefault = 64 << 20;
/** Changes that are taken together; a revision is not divided. */
const takenMax = 1000;
const eventBytes = 200;

export class EtcdFeed implements ChangeFeed, Watch {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  readonly #options: EtcdFeedOptions;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #delivered: number;
  #isWatching = true;
  #error: Error | undefined;
  readonly #wakers = new Set<() => void>();

  constructor(options: EtcdFeedOptions) {
    this.#options = options;
    this.key = options.key;
    this.rangeEnd = options.rangeEnd;
    this.#delivered = options.from;
    options.watches.add(this);
  }

  get delivered(): number {
    return this.#delivered;
  }

  get received(): number {
    return this.#delivered;
  }

  get hasChanges(): boolean {
    return this.#waiting.length > 0;
  }

  events(events: readonly WatchEvent[]): void {
    // Fields of an answer that is nonsense can be missing.
    for (const [revision, changes] of Map.groupBy(events, ({ kv }) => (kv as KeyValue | undefined)?.mod_revision)) {
      if (revision === undefined || !Number.isSafeInteger(revision) || revision <= this.#delivered)
        return this.#fail(new StorageUnavailable("etcd sent changes that are not in order"));
      let bytes = 0;
      for (const { kv, prev_kv: before } of changes)
        bytes += eventBytes + kv.key.length + kv.value.length + (before?.value.length ?? 0);
      this.#waiting.push({ revision, events: changes, bytes });
      this.#waitingBytes += bytes;
      this.#delivered = revision;
    }
    if (this.#waitingBytes > (this.#options.waitingBytesMax ?? waitingBytesMaxDefault)) this.#pause();
    this.#wake();
  }

  progress(revision: number): void {
    this.#delivered = Math.max(this.#delivered, revision);
    this.#wake();
  }

  compacted(error: RevisionCompacted): void {
    this.#fail(error);
  }

  async take(until: number): Promise<CopiedChange[]> {
    const taken: CopiedChange[] = [];
    while (taken.length < takenMax) {
      const first = this.#waiting[0];
      if (first === undefined || first.revision > until) break;
      this.#waiting.shift();
      this.#waitingBytes -= first.bytes;
      for (const event of first.events) {
        const change = await this.#changeOf(event);
        if (!isOfServer(change.key)) taken.push(change);
      }
    }
    if (this.#waiting.length === 0) this.#continue();
    if (taken.length === 0 && this.#error !== undefined) throw this.#error;
    return taken;
  }

  async reach(revision: number): Promise<void> {
    this.#options.watches.progressTo(revision);
    while (this.#delivered < revision && !this.hasChanges) {
      if (this.#error !== undefined) throw this.#error;
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  close(): void {
    this.#isWatching = false;
    this.#options.watches.remove(this);
  }

  async #changeOf({ type, kv }: WatchEvent): Promise<CopiedChange> {
    const { keyOf, expiryOf } = this.#options;
    const key = keyOf(kv.key);
    const { mod_revision: revision, value } = kv;
    if (type !== 0) return { key, revision, value: null };
    const expiresAt = await expiryOf(kv);
    return { key, revision, value, ...(expiresAt !== undefined && { expiresAt }) };
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }

  #pause(): void {
    this.#isWatching = false;
    this.#options.watches.remove(this);
  }

  #continue(): void {
    if (this.#isWatching || this.#error !== undefined) return;
    this.#isWatching = true;
    this.#options.watches.add(this);
  }

  #fail(error: Error): void {
    this.#error = error;
    this.#pause();
    this.#wake();
  }
}
