/** The open watches of a server: their shared encoders, and their end at shutdown. */

import type { Clock } from "../../apimachinery/clock.ts";
import { type ApiError, expired } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { WatchScope } from "../../registry/watch.ts";
import type { RequestState } from "../../request/context.ts";
import { PieceMemory } from "../representation/piece-memory.ts";
import { type EventForm, WatchEncoder } from "./watch-encoder.ts";

/** Options of open watches. */
interface OpenWatchesOptions {
  /**
   * `--min-request-timeout`: a watch without a timeout ends after a random time between this and
   * twice as much.
   */
  readonly timeoutMinMs: number;
  /**
   * @returns a function that counts events sent to watches of a resource, by their sizes in bytes
   */
  counterOf(group: string, version: string, resource: string): (sizes: readonly number[]) => void;
  /** Called when a watch has sent the bookmark that ends its initial events. */
  listed(context: RequestState): void;
  /** Called when a watch was closed because its client does not read. */
  cutOff(group: string, resource: string): void;
}

/** A watch that can be ended. */
export interface OpenWatch {
  /** The revision at which it began. */
  readonly from: number;
  /** Ends it without an error. Can be called repeatedly. */
  end(): void;
  /** Sends the error, and ends it unless it has ended. */
  fail(error: ApiError): void;
}

/** The open watches. */
export interface OpenWatches extends OpenWatchesOptions {
  /** Buffers for writes to a single watch. */
  readonly memory: PieceMemory;
  /**
   * Ends every watch as its timeout would, at shutdown: at once, or the oldest first, at least 200 in a second, and all
   * within the time. Later watches end immediately.
   */
  endWithin(graceMs: number, clock: Clock): void;
  /**
   * Ends every watch with the error 410, because another state was restored at this revision. Later watches from
   * earlier revisions end so, too.
   */
  expireAll(revision: number): void;
  /** The error 410 of a watch from this revision; undefined when it can start. */
  expiredAt(from: number): ApiError | undefined;
  readonly size: number;
  /**
   * Adds a watch.
   * @returns a function that removes it
   */
  add(watch: OpenWatch): () => void;
  /**
   * The encoder shared by watches with the same scope and form; kept until all of them have
   * released it.
   */
  encoder(resolved: Resolved, form: EventForm, scope: WatchScope): { readonly encoder: WatchEncoder; release(): void };
}

/** Source: `RunWithContext` in k8s.io/apiserver@v0.36.0/pkg/server/genericapiserver.go. */
const endedPerSecondMin = 200;
const stepMs = 50;

/** Clients whose watches end together list again together. */
function endInSteps(watches: readonly OpenWatch[], graceMs: number, clock: Clock): void {
  const perStep = Math.ceil(Math.max(endedPerSecondMin / 1000, watches.length / graceMs) * stepMs);
  const count = graceMs < stepMs ? watches.length : perStep;
  for (const watch of watches.slice(0, count)) watch.end();
  if (count < watches.length) clock.after(stepMs, () => endInSteps(watches.slice(count), graceMs - stepMs, clock));
}

/** Creates the set of open watches. */
export function openWatches(options: OpenWatchesOptions): OpenWatches {
  const open = new Set<OpenWatch>();
  let restored = 0;
  const tooOld = (from: number): ApiError =>
    expired(`too old resource version: ${Math.min(from, restored)} (${restored})`);
  const encoders = new WeakMap<Resolved, Map<string, { readonly encoder: WatchEncoder; users: number }>>();
  let ended = false;
  return {
    ...options,
    memory: new PieceMemory(),
    endWithin(graceMs, clock) {
      ended = true;
      endInSteps([...open], graceMs, clock);
    },
    expireAll(revision) {
      restored = revision;
      for (const watch of [...open]) watch.fail(tooOld(watch.from));
    },
    expiredAt: (from) => (from < restored ? tooOld(from) : undefined),
    get size() {
      return open.size;
    },
    add(watch) {
      open.add(watch);
      if (ended) watch.end();
      return () => void open.delete(watch);
    },
    encoder(resolved, form, scope) {
      const own = encoders.get(resolved) ?? new Map();
      encoders.set(resolved, own);
      const key = `${form.text}\n${scope.text}`;
      const shared = own.get(key) ?? { encoder: new WatchEncoder(form, scope), users: 0 };
      own.set(key, shared);
      shared.users += 1;
      return {
        encoder: shared.encoder,
        release() {
          shared.users -= 1;
          if (shared.users === 0) own.delete(key);
        },
      };
    },
  };
}
