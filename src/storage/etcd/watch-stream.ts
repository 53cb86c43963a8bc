/**
 * One watch stream of etcd with many watches. Source of the order of its responses:
 * `go.etcd.io/etcd/server/v3@v3.6.8/etcdserver/api/v3rpc/watch.go`.
 */
import { RevisionCompacted, StorageUnavailable } from "../contract.ts";
import type { EtcdClient, WatchCall } from "./api/client.ts";
import type { WatchEvent, WatchResponse } from "./api/messages.ts";

/** A watched range of keys. */
export interface Watch {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  /** All changes up to this revision have been delivered. */
  readonly delivered: number;
  /** Receives changes in order, in whole transactions. */
  events(events: readonly WatchEvent[]): void;
  /** Reports that no more changes at or below the revision follow. */
  progress(revision: number): void;
  /** Reports that the member has confirmed the progress that is reported next. */
  bookmark?(): void;
  /** Reports that changes after `delivered` were compacted. */
  compacted(error: RevisionCompacted): void;
}

export interface WatchStreamOptions {
  readonly client: Pick<EtcdClient, "watch">;
  /** Whether the member answers progress requests after all events; otherwise none is sent. */
  answersProgress(): boolean;
  /** Called for each answer of the member. */
  alive(): void;
  /** Called when the stream has ended, with the watches that were open. */
  ended(stream: WatchStream, watches: Watch[], error: Error): void;
}

/** A member that is silent during so many requests is asked for its status. */
const silentMax = 20;
/** How long it may take to answer. */
const probeMs = 2_000;
/** Probes, about one in a second, that a member answers while it is silent, before the watches move to another stream. */
const probesMax = 60;

/**
 * The member answers a progress request when all watches of the stream have received every change,
 * and drops the request otherwise. So a response does not cover a watch that was created after the
 * request was sent. Therefore the stream accepts watches only while no request is unanswered,
 * and sends requests only when the member has confirmed all watches.
 */
export class WatchStream {
  readonly #options: WatchStreamOptions;
  readonly #call: WatchCall;
  readonly #watches = new Map<number, Watch>();
  readonly #unconfirmed = new Set<number>();
  #lastId = 0;
  #unanswered = 0;
  #progressRequested = false;
  /** Requests for progress since the last answer of any kind. */
  #silent = 0;
  #isProbing = false;
  /** Answered probes since the last answer of the stream. */
  #probes = 0;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#call = options.client.watch({
      response: (response) => this.#receive(response),
      end: (error) => this.#end(error),
    });
  }

  /** Whether watches can be added. */
  get isOpenForWatches(): boolean {
    return this.#unanswered === 0;
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  watches(): Iterable<Watch> {
    return this.#watches.values();
  }

  /** Watches the changes after `delivered`. */
  add(watch: Watch): void {
    const id = ++this.#lastId;
    this.#watches.set(id, watch);
    this.#unconfirmed.add(id);
    this.#call.send({
      create_request: {
        key: watch.key,
        range_end: watch.rangeEnd,
        start_revision: watch.delivered + 1,
        progress_notify: true,
        prev_kv: true,
        watch_id: id,
      },
    });
  }

  remove(watch: Watch): void {
    for (const [id, one] of this.#watches) {
      if (one !== watch) continue;
      this.#watches.delete(id);
      this.#call.send({ cancel_request: { watch_id: id } });
    }
  }

  /** Requests the revision up to which all watches have received every change. */
  requestProgress(): void {
    if (++this.#silent > silentMax) this.#probe();
    if (!this.#options.answersProgress()) return;
    this.#progressRequested = this.#unconfirmed.size > 0;
    if (this.#progressRequested) return;
    this.#unanswered++;
    this.#call.send({ progress_request: {} });
  }

  /** Ends the stream, without a call of `ended`. */
  close(): void {
    this.#watches.clear();
    this.#call.close();
  }

  /**
   * A member that searches old changes is silent, too, but answers other calls. Pings of the
   * connection find broken ones much later. A stream that stays silent is given up: a proxy can hold it.
   */
  #probe(): void {
    if (this.#isProbing) return;
    this.#isProbing = true;
    void this.#call.probe(probeMs).then(() => {
      this.#isProbing = false;
      this.#silent = 0;
      if (++this.#probes < probesMax || this.isEmpty) return;
      this.#call.close();
      this.#end(new StorageUnavailable("the watch stream is silent"));
    });
  }

  #receive(response: WatchResponse): void {
    this.#silent = 0;
    this.#probes = 0;
    this.#options.alive();
    const { watch_id: id, header, created, canceled, events } = response;
    if (created) this.#confirm(id);
    if (canceled) return this.#canceled(response);
    if (id === -1) {
      this.#unanswered = Math.max(0, this.#unanswered - 1);
      for (const watch of [...this.#watches.values()]) confirm(watch, header.revision);
      return;
    }
    const watch = this.#watches.get(id);
    if (watch === undefined || created) return;
    if (events !== undefined) watch.events(events);
    else confirm(watch, header.revision);
  }

  #confirm(id: number): void {
    this.#unconfirmed.delete(id);
    const watch = this.#watches.get(id);
    watch?.progress(watch.delivered);
    if (this.#progressRequested) this.requestProgress();
  }

  /** The member cancels a watch on request, when it needs compacted changes, or without a leader. */
  #canceled({ watch_id: id, compact_revision: compactRevision, cancel_reason: reason }: WatchResponse): void {
    const watch = this.#watches.get(id);
    if (watch === undefined && id !== -1) return;
    if (watch !== undefined && compactRevision > 0) {
      this.#watches.delete(id);
      watch.compacted(new RevisionCompacted(compactRevision));
      return;
    }
    this.#call.close();
    this.#end(new StorageUnavailable(`the member canceled a watch: ${reason}`));
  }

  #end(error: Error): void {
    const watches = [...this.#watches.values()];
    this.#watches.clear();
    this.#options.ended(this, watches, error);
  }
}

function confirm(watch: Watch, revision: number): void {
  watch.bookmark?.();
  watch.progress(revision);
}
