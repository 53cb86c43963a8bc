/** A view of a store as a shared, remote one: its log can stop, and an older state can be restored. */
import { type LogSubscriber, RevisionCompacted, RevisionsWentBack, type Storage } from "../../src/storage/contract.ts";

export interface RemoteStorage {
  readonly storage: Storage;
  /** From here on subscribers receive nothing, as when a connection is broken; reads still work. */
  stopLog(): void;
  /** From here on subscribers miss all changes, and receive only progress. */
  hideEvents(): void;
  /** Ends all subscriptions, because compaction has overtaken them. */
  compactLog(): void;
  /** Replaces the store. The next read notices it and ends all subscriptions. */
  restore(older: Storage): void;
}

/** @param first closed by its owner */
export function remoteStorage(first: Storage): RemoteStorage {
  let store = first;
  let isStopped = false;
  let isHiding = false;
  let isReplaced = false;
  const subscribers = new Set<LogSubscriber>();
  const endAll = (error: Error): void => {
    const ended = [...subscribers];
    subscribers.clear();
    for (const subscriber of ended) subscriber.end(error);
  };
  const read = async <T>(run: () => Promise<T>): Promise<T> => {
    const answer = await run();
    if (!isReplaced) return answer;
    isReplaced = false;
    endAll(new RevisionsWentBack(await store.current()));
    return answer;
  };
  const storage: Storage = {
    isShared: true,
    reportsProgress: true,
    get: (key, revision) => read(() => store.get(key, revision)),
    range: (prefix, options) => read(() => store.range(prefix, options)),
    count: (prefix) => read(() => store.count(prefix)),
    commit: (checks, writes) => store.commit(checks, writes),
    log(prefix, from, subscriber) {
      const source = store;
      const isCut = (): boolean => isStopped || store !== source;
      subscribers.add(subscriber);
      const log = store.log(prefix, from, {
        events: (batch) => isCut() || isHiding || subscriber.events(batch),
        progress: (revision) => isCut() || subscriber.progress(revision),
        end: (error) => isCut() || subscriber.end(error),
      });
      return {
        close() {
          subscribers.delete(subscriber);
          log.close();
        },
      };
    },
    compact: (revision) => store.compact(revision),
    checkReadable: () => store.checkReadable(),
    checkWritable: () => store.checkWritable(),
    current: () => read(() => store.current()),
    compacted: () => store.compacted(),
    sizeBytes: () => store.sizeBytes(),
    pin: () => store.pin(),
    close: () => store.close(),
  };
  return {
    storage,
    stopLog() {
      isStopped = true;
    },
    hideEvents() {
      isHiding = true;
    },
    compactLog: () => endAll(new RevisionCompacted(1)),
    restore(older) {
      store = older;
      isReplaced = true;
    },
  };
}
