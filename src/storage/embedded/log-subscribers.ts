/**
 * Delivers the log to its subscribers: first past changes from the ledger, in pages, then every
 * group of changes when it becomes durable.
 */
import {
  HistoryDamaged,
  type LogEvent,
  type LogSubscriber,
  RevisionCompacted,
  type Subscription,
} from "../contract.ts";
import { type Change, type Ledger, revisionOf } from "./ledger.ts";
import { nextTurn } from "./next-turn.ts";
import { eventOf } from "./views.ts";

/** Changes per page for a subscriber that catches up. Must exceed the changes of one commit. */
const pageMax = 256;

/** The revisions that readers may see. */
export interface Horizon {
  readonly revision: number;
  readonly compacted: number;
}

interface Follower {
  readonly prefix: string;
  readonly subscriber: LogSubscriber;
  /** Everything up to this revision has been delivered. */
  seen: number;
  open: boolean;
}

/** Followers of one prefix that have caught up: they share each batch. */
interface Group {
  readonly prefix: string;
  readonly followers: Set<Follower>;
  batch: LogEvent[];
  /** An event of the batch cannot be read. */
  failure: Error | undefined;
}

export class LogSubscribers {
  readonly #ledger: Ledger;
  readonly #horizon: Horizon;
  /** By prefix. For each event only the prefixes that end with a slash of its key are looked up. */
  readonly #groups = new Map<string, Group>();
  /** Groups whose prefix does not end with a slash; checked for each event. */
  readonly #irregular = new Set<Group>();
  readonly #catchingUp = new Set<Follower>();

  /** @param horizon updated by the caller */
  constructor(ledger: Ledger, horizon: Horizon) {
    this.#ledger = ledger;
    this.#horizon = horizon;
  }

  /** Subscribes to changes after the revision `from`. */
  add(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    const follower: Follower = { prefix, subscriber, seen: from, open: true };
    this.#catchUp(follower).catch((error: unknown) => {
      if (follower.open) this.#endWith(follower, error);
    });
    return { close: () => this.#remove(follower) };
  }

  /**
   * Delivers a group of durable changes. The horizon already includes them. When an event cannot be
   * read, it ends the subscriptions to it, because the changes are written and their commits succeed.
   */
  deliver(changes: readonly Change[]): void {
    const touched = new Set<Group>();
    for (const change of changes) {
      const { key } = change;
      const event = this.#readEvent(change);
      for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
        const group = this.#groups.get(key.slice(0, slash + 1));
        if (group !== undefined) addTo(group, event, touched);
      }
      for (const group of this.#irregular) if (key.startsWith(group.prefix)) addTo(group, event, touched);
    }
    for (const group of touched) this.#deliverBatch(group);
    const { revision } = this.#horizon;
    for (const { followers } of this.#groups.values()) {
      for (const follower of followers) this.#progress(follower, revision);
    }
  }

  #readEvent(change: Change): LogEvent | Error {
    try {
      return eventOf(change, this.#ledger);
    } catch (error) {
      return asError(error);
    }
  }

  #deliverBatch(group: Group): void {
    const { batch, failure, followers } = group;
    group.batch = [];
    group.failure = undefined;
    for (const follower of followers) {
      if (failure === undefined) this.#call(follower, () => follower.subscriber.events(batch));
      else this.#end(follower, failure);
    }
  }

  /**
   * Reports progress. Does not use `#call`, which needs a closure per follower: this runs for every
   * follower and group.
   */
  #progress(follower: Follower, revision: number): void {
    if (!follower.open) return;
    try {
      follower.subscriber.progress(revision);
    } catch (error) {
      this.#endWith(follower, error);
    }
  }

  /** Ends every subscription. */
  close(): void {
    const followers = [...this.#catchingUp, ...[...this.#groups.values()].flatMap((group) => [...group.followers])];
    for (const follower of followers) this.#end(follower, undefined);
  }

  #join(follower: Follower): void {
    const { prefix } = follower;
    let group = this.#groups.get(prefix);
    if (group === undefined) {
      group = { prefix, followers: new Set(), batch: [], failure: undefined };
      this.#groups.set(prefix, group);
      if (!prefix.endsWith("/")) this.#irregular.add(group);
    }
    group.followers.add(follower);
  }

  /** Delivers past changes and progress, then joins the follower to its group. */
  async #catchUp(follower: Follower): Promise<void> {
    const upToDate = follower.seen === this.#horizon.revision;
    if (upToDate) this.#join(follower);
    else this.#catchingUp.add(follower);
    await nextTurn();
    if (upToDate) {
      const { revision } = this.#horizon;
      return this.#progress(follower, revision);
    }
    while (follower.open && follower.seen < this.#horizon.revision) {
      if (follower.seen < this.#horizon.compacted)
        return this.#end(follower, new RevisionCompacted(this.#horizon.compacted));
      const { changes, seen } = this.#page(follower.seen);
      const damaged = changes.find(({ damage }) => damage !== undefined);
      if (damaged !== undefined) return this.#end(follower, new HistoryDamaged(revisionOf(damaged.position)));
      const events = changes
        .filter(({ key }) => key.startsWith(follower.prefix))
        .map((change) => eventOf(change, this.#ledger));
      follower.seen = seen;
      if (events.length > 0) this.#call(follower, () => follower.subscriber.events(events));
      this.#progress(follower, seen);
      if (seen < this.#horizon.revision) await nextTurn();
    }
    this.#catchingUp.delete(follower);
    if (follower.open) this.#join(follower);
  }

  /** Reads the next visible changes, in whole commits, and returns the revision that they reach. */
  #page(after: number): { changes: Change[]; seen: number } {
    const { revision } = this.#horizon;
    const page = this.#ledger.changes(after, pageMax);
    const last = page.at(-1);
    if (page.length < pageMax || last === undefined || revisionOf(last.position) > revision) {
      return { changes: page.filter(({ position }) => revisionOf(position) <= revision), seen: revision };
    }
    // The last commit may continue after the page.
    const seen = revisionOf(last.position) - 1;
    return { changes: page.filter(({ position }) => revisionOf(position) <= seen), seen };
  }

  /** Calls a subscriber. When it throws, only its own subscription ends. */
  #call(follower: Follower, call: () => void): void {
    if (!follower.open) return;
    try {
      call();
    } catch (error) {
      this.#endWith(follower, error);
    }
  }

  #endWith(follower: Follower, error: unknown): void {
    this.#end(follower, asError(error));
  }

  #end(follower: Follower, error: Error | undefined): void {
    this.#remove(follower);
    follower.subscriber.end(error);
  }

  #remove(follower: Follower): void {
    follower.open = false;
    this.#catchingUp.delete(follower);
    const group = this.#groups.get(follower.prefix);
    if (group === undefined || !group.followers.delete(follower) || group.followers.size > 0) return;
    this.#groups.delete(follower.prefix);
    this.#irregular.delete(group);
  }
}

/** Adds an event to the batch of a group; an error fails the batch. */
function addTo(group: Group, event: LogEvent | Error, touched: Set<Group>): void {
  touched.add(group);
  if (event instanceof Error) group.failure ??= event;
  else group.batch.push(event);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
