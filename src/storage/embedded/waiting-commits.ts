/** The commits that wait to be written, in the order in which they were accepted. */
import { StorageUnavailable } from "../contract.ts";
import { costOf } from "./accept-writes.ts";
import type { Change, Expiry } from "./ledger.ts";
import { nextTurn } from "./next-turn.ts";

/** A group is full when it has this many changes; its last commit may exceed it. */
const groupMax = 1024;
/** The maximum number of event loop turns that a group waits for more commits. */
const groupTurnsMax = 4;
const waitingMaxDefault = 10_000;
const waitingBytesMax = 256 << 20;

/**
 * A commit that waits to be written, or a response that waits until the state it reports is
 * durable.
 */
export interface Waiting {
  readonly changes: readonly Change[];
  readonly expiries: readonly Expiry[];
  readonly dropExpiries: readonly Expiry[];
  /** What it counts towards the limits of waiting writes. */
  readonly cost: { readonly changes: number; readonly bytes: number };
  /** Called in the turn in which readers see the changes, before they do. */
  readonly beforeVisible?: (() => void) | undefined;
  settle(error: StorageUnavailable | undefined): void;
}

/** A queue with limits. */
export class WaitingCommits {
  #waiting: Waiting[] = [];
  #changes = 0;
  #bytes = 0;
  readonly #changesMax: number;

  constructor(changesMax = waitingMaxDefault) {
    this.#changesMax = changesMax;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** @throws StorageUnavailable when too many wait */
  checkBacklog(): void {
    if (this.#changes < this.#changesMax && this.#bytes < waitingBytesMax) return;
    throw new StorageUnavailable(
      `too many writes are waiting for the disk: ${this.#changes} changes, ${this.#bytes} bytes`,
    );
  }

  add(waiting: Waiting): void {
    this.#changes += waiting.cost.changes;
    this.#bytes += waiting.cost.bytes;
    this.#waiting.push(waiting);
  }

  /**
   * Waits until a turn of the event loop adds no commit: writing a group takes about as long for
   * one change as for many.
   */
  async gather(): Promise<void> {
    for (let turn = 0, before = -1; turn < groupTurnsMax && this.#waiting.length > before; turn++) {
      before = this.#waiting.length;
      await nextTurn();
    }
  }

  /** Removes the next group. It is not settled. */
  takeGroup(): Waiting[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ changes }) => {
      count += changes.length;
      return count >= groupMax;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end + 1);
  }

  /** Removes all. They are not settled. */
  takeAll(): Waiting[] {
    return this.#waiting.splice(0);
  }

  /** Answers commits. @param error undefined when they are durable */
  settle(group: readonly Waiting[], error: StorageUnavailable | undefined): void {
    for (const { cost, settle } of group) {
      this.#changes -= cost.changes;
      this.#bytes -= cost.bytes;
      settle(error);
    }
  }
}

/** What changes count towards the limits of waiting writes. */
export function costOfAll(changes: readonly Change[]): Waiting["cost"] {
  let bytes = 0;
  for (const { key, value } of changes) bytes += costOf(key, value.length);
  return { changes: changes.length, bytes };
}
