/**
 * Follows the key in which the servers of a cluster agree on compactions, so that each of them knows
 * the compactions of the others. It has a stream of its own, because a user of etcd whose role allows
 * only the prefix must not lose its other watches. Source: `runWatchLoop` in
 * `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/compact.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { StorageUnavailable } from "../contract.ts";
import type { EtcdClient, WatchCall } from "./api/client.ts";
import type { KeyValue } from "./api/messages.ts";
import { afterKey } from "./keys.ts";

/** The key is the same for all prefixes, because the history is. */
export const compactionKey = Buffer.from("compact_rev_key");

/** Delays before the key is read and watched again. */
const retryMs = { min: 1_000, max: 60_000 };

interface CompactionWatchOptions {
  readonly client: Pick<EtcdClient, "range" | "watch">;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Called with each revision in the key. */
  compacted(revision: number): void;
}

/** @returns stops it */
export function watchCompactions({ client, clock, logger, compacted }: CompactionWatchOptions): () => void {
  let stopped = false;
  let call: WatchCall | undefined;
  let cancel = (): void => {};
  let delayMs = retryMs.min;
  const report = ({ value }: KeyValue, newest: number): void => {
    const revision = revisionIn(value);
    if (revision !== undefined && revision <= newest) compacted(revision);
  };
  const retry = (error: Error): void => {
    call?.close();
    call = undefined;
    if (stopped) return;
    logger?.warn("Cannot watch the compactions of etcd", { error: error.message });
    cancel = clock.after(delayMs, start);
    delayMs = Math.min(delayMs * 2, retryMs.max);
  };
  const watch = (from: number): void => {
    call = client.watch({
      response({ header, canceled, cancel_reason: reason, events }) {
        if (canceled) return retry(new StorageUnavailable(reason));
        delayMs = retryMs.min;
        for (const { type, kv } of events ?? []) if (type === 0) report(kv, header.revision);
      },
      end: retry,
    });
    call.send({
      create_request: {
        key: compactionKey,
        range_end: afterKey(compactionKey),
        start_revision: from,
        progress_notify: false,
        prev_kv: false,
        watch_id: 1,
      },
    });
  };
  const start = (): void => {
    client.range({ key: compactionKey }).then(({ header, kvs }) => {
      if (stopped) return;
      if (kvs?.[0] !== undefined) report(kvs[0], header.revision);
      watch(header.revision + 1);
    }, retry);
  };
  start();
  return () => {
    stopped = true;
    cancel();
    call?.close();
  };
}

/** 0 is written before the first compaction. Other clients of the cluster can write anything. */
export function revisionIn(value: Buffer): number | undefined {
  const text = value.toString("latin1");
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}
