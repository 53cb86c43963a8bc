/**
 * Watches of members that may answer a progress request before they have sent all events. Such
 * members are not asked. Instead, watches share one of all keys: each revision of etcd has an event,
 * so the events show how far all of them have come.
 */
import type { RevisionCompacted } from "../contract.ts";
import type { WatchEvent } from "./api/messages.ts";
import { isIn, type KeyRange } from "./keys.ts";
import type { Watch } from "./watch-stream.ts";

interface SharedWatchesOptions {
  /** Opens a watch, and keeps it open. */
  open(watch: Watch): void;
  close(watch: Watch): void;
  /** The revision that watches should reach soon. */
  goal(): number;
  /** The keys that every user of etcd can read, if the user cannot read all. */
  readonly allowed: KeyRange;
}

const allKeys: KeyRange = { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };

export class SharedWatches {
  readonly #options: SharedWatchesOptions;
  #range = allKeys;
  /** The group of the watches that have come equally far. */
  #main: SharedWatch | undefined;
  /** Groups of single watches that start before the main one. */
  readonly #late = new Set<SharedWatch>();

  constructor(options: SharedWatchesOptions) {
    this.#options = options;
  }

  /** The open watch that has the events of this one; undefined when it is not shared. */
  groupOf(watch: Watch): SharedWatch | undefined {
    if (this.#main?.members.has(watch)) return this.#main;
    for (const group of this.#late) if (group.members.has(watch)) return group;
    return undefined;
  }

  add(watch: Watch): void {
    if (this.#main === undefined) this.#main = this.#open(watch);
    else if (watch.delivered < this.#main.delivered) this.#late.add(this.#open(watch));
    else this.#join(this.#main, watch);
  }

  /** @returns false when the watch is not shared */
  remove(watch: Watch): boolean {
    const group = this.groupOf(watch);
    group?.members.delete(watch);
    if (group?.members.size === 0) this.#close(group);
    return group !== undefined;
  }

  /** Lets the watches know that they have reached the goal, when they have. */
  reportGoal(): void {
    const goal = this.#options.goal();
    if (this.#main === undefined || this.#main.delivered < goal) return;
    for (const watch of [...this.#main.members]) if (watch.delivered < goal) watch.progress(this.#main.delivered);
  }

  /**
   * From now on only the allowed keys are watched, because the user of etcd cannot read all.
   * @returns false when they were before
   */
  narrow(): boolean {
    const wasWide = this.#range === allKeys;
    this.#range = this.#options.allowed;
    return wasWide;
  }

  #open(watch: Watch): SharedWatch {
    const group: SharedWatch = new SharedWatch(watch, {
      range: () => this.#range,
      advanced: () => this.#advanced(group),
      ended: () => this.#close(group),
    });
    this.#options.open(group);
    return group;
  }

  #close(group: SharedWatch): void {
    this.#late.delete(group);
    if (this.#main === group) this.#main = undefined;
    this.#options.close(group);
  }

  #join(group: SharedWatch, watch: Watch): void {
    group.members.add(watch);
    // The caller of `add` may not be ready for a call yet.
    queueMicrotask(() => {
      if (group.members.has(watch)) watch.progress(Math.max(watch.delivered, group.delivered));
    });
  }

  #advanced(group: SharedWatch): void {
    const main = this.#main;
    if (main === undefined || !this.#late.has(group)) return this.reportGoal();
    if (group.delivered < main.delivered) return;
    for (const watch of group.members) {
      watch.progress(group.delivered);
      if (group.members.has(watch)) this.#join(main, watch);
    }
    this.#close(group);
  }
}

interface SharedWatchOptions {
  readonly range: () => KeyRange;
  advanced(): void;
  /** Called when the changes that it needs were compacted. */
  ended(): void;
}

/** One watch of etcd for several watches. */
class SharedWatch implements Watch {
  readonly members: Set<Watch>;
  readonly #options: SharedWatchOptions;
  #delivered: number;

  constructor(first: Watch, options: SharedWatchOptions) {
    this.members = new Set([first]);
    this.#options = options;
    this.#delivered = first.delivered;
  }

  get key(): Buffer {
    return this.#options.range().key;
  }

  get rangeEnd(): Buffer {
    return this.#options.range().rangeEnd;
  }

  get delivered(): number {
    return this.#delivered;
  }

  events(events: readonly WatchEvent[]): void {
    for (const watch of [...this.members]) {
      const own = events.filter(({ kv }) => kv.mod_revision > watch.delivered && isIn(watch, kv.key));
      if (own.length > 0 && this.members.has(watch)) watch.events(own);
    }
    this.#delivered = Math.max(this.#delivered, events.at(-1)?.kv.mod_revision ?? 0);
    this.#options.advanced();
  }

  progress(revision: number): void {
    this.#delivered = Math.max(this.#delivered, revision);
    for (const watch of [...this.members]) watch.progress(Math.max(watch.delivered, this.#delivered));
    this.#options.advanced();
  }

  compacted(error: RevisionCompacted): void {
    const members = [...this.members];
    this.members.clear();
    this.#options.ended();
    for (const watch of members) watch.compacted(error);
  }
}
