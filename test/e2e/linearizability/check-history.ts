/**
 * Checks answers and events against the changes in the store. The store gives all changes one order,
 * their revisions; the answers are linearizable in that order if each of them shows the state at a
 * revision between the beginning and the end of its request. Revisions are bounded in time: an answer
 * with a revision proves that later requests see it, and a change cannot precede the request that
 * made it. So a check takes O(n log n), and an unknown outcome needs no search.
 */
import type { Change, Delivered, Operation, Seen, StoredState } from "./history.ts";

interface KeyHistory {
  readonly revisions: number[];
  readonly states: (StoredState | undefined)[];
}

/** The violations that are reported at most. */
const reportedMax = 20;

/** @returns descriptions of violations; empty when there are none */
export function checkHistory(
  changes: readonly Change[],
  operations: readonly Operation[],
  delivered: readonly Delivered[],
): string[] {
  const checker = new Checker(changes, operations);
  for (const operation of operations) checker.check(operation);
  for (const one of delivered) checker.checkDelivered(one);
  return checker.violations;
}

class Checker {
  readonly violations: string[] = [];
  readonly #changes: readonly Change[];
  readonly #keys = new Map<string, KeyHistory>();
  /** The change that each write made. */
  readonly #byWriter = new Map<string, Change>();
  readonly #deletions = new Map<string, number>();
  readonly #ackedDeletions = new Set<string>();
  /** Ends of requests in order, and the newest revision that any answer until then proves. */
  readonly #ends: number[] = [];
  readonly #floors: number[] = [];
  /** The earliest time of each change, in their order. */
  readonly #times: number[] = [];

  constructor(changes: readonly Change[], operations: readonly Operation[]) {
    this.#changes = changes;
    for (const change of changes) this.#addChange(change);
    const starts = new Map(operations.filter(({ by }) => by !== "").map(({ by, start }) => [by, start]));
    let time = 0;
    for (const { state } of changes) {
      time = Math.max(time, (state && starts.get(state.by)) ?? 0);
      this.#times.push(time);
    }
    let floor = 0;
    for (const { answer, end } of operations.toSorted((a, b) => a.end - b.end)) {
      floor = Math.max(floor, provedBy(answer));
      this.#ends.push(end);
      this.#floors.push(floor);
    }
  }

  #addChange(change: Change): void {
    const { key, revision, state } = change;
    const history = this.#keys.get(key) ?? { revisions: [], states: [] };
    this.#keys.set(key, history);
    const before = history.states.at(-1);
    history.revisions.push(revision);
    history.states.push(state);
    if (state === undefined) this.#deletions.set(before?.uid ?? "", revision);
    else if (this.#byWriter.has(state.by)) this.#report(`the write ${state.by} was made twice`, change);
    else this.#byWriter.set(state.by, change);
  }

  check(operation: Operation): void {
    const { answer, verb, key, by, start, end, resourceVersion } = operation;
    const isStale = resourceVersion !== "" && (verb === "get" || verb === "list");
    const floor = isStale ? Number(resourceVersion) : valueBefore(this.#ends, this.#floors, start);
    const ceiling = this.#ceiling(end);
    const fail = (problem: string): void => this.#report(problem, operation, { floor, ceiling });
    switch (answer.kind) {
      case "unknown":
        return;
      case "rejected":
        if (by !== "" && this.#byWriter.has(by)) return fail("a rejected write was made");
        if (!this.#holdsWithin(key, floor, ceiling, (state, revision) => explains(operation, state, revision)))
          fail(`no state explains ${answer.reason}`);
        return;
      case "list": {
        if (answer.revision < floor) return fail("a list is older than an earlier answer");
        return this.#checkState(answer.objects, answer.revision, fail);
      }
      case "deleted": {
        const revision = this.#deletions.get(answer.uid);
        if (revision === undefined) return fail("an acknowledged deletion was lost");
        if (revision <= floor || revision > ceiling) fail(`the deletion was made at revision ${revision}`);
        if (this.#ackedDeletions.has(answer.uid)) fail("a deletion was acknowledged twice");
        this.#ackedDeletions.add(answer.uid);
        return;
      }
      case "object":
        if (verb !== "get") return this.#checkWrite(operation, answer.object, floor, fail);
        if (
          !this.#holdsWithin(
            key,
            floor,
            ceiling,
            (state, revision) => state?.by === answer.object.by && revision === answer.object.revision,
          )
        )
          fail("a get returned a state that was not current");
    }
  }

  /** An acknowledged write is in the store, is newer than earlier answers, and replaced what it expected. */
  #checkWrite(operation: Operation, object: Seen, floor: number, fail: (problem: string) => void): void {
    const { verb, key, by, resourceVersion } = operation;
    const change = this.#byWriter.get(by);
    if (change === undefined || change.revision !== object.revision || change.key !== key || object.by !== by)
      return fail(`an acknowledged write was lost, or is at revision ${change?.revision}`);
    if (change.revision <= floor) return fail("a write has an older revision than an earlier answer");
    const { state, revision } = this.#before(key, change.revision);
    if (verb === "create" && state !== undefined) fail("a creation replaced an object");
    if (verb !== "create" && state?.uid !== change.state?.uid) fail("an update changed the uid");
    if (verb === "update" && String(revision) !== resourceVersion) fail(`an update replaced revision ${revision}`);
    if (verb === "patch" && state?.value !== change.state?.value) fail("a patch reverted another write");
  }

  /** The changes after a list are exactly those of the store, once and in order. */
  checkDelivered({ informer, from, listed, events }: Delivered): void {
    const fail = (problem: string): void => this.#report(`informer ${informer} after ${from}: ${problem}`, {});
    this.#checkState(listed, from, fail);
    let at = after(this.#changes, from);
    for (const event of events) {
      const change = this.#changes[at++];
      const expected =
        change && `${change.state === undefined ? "DELETED" : "stored"} ${change.key}@${change.revision}`;
      const got = `${event.type === "DELETED" ? "DELETED" : "stored"} ${event.key}@${event.revision}`;
      if (got !== expected) return fail(`received ${got} instead of ${expected}`);
      if (change?.state !== undefined && change.state.by !== event.by) return fail(`${got} shows another write`);
    }
  }

  #checkState(objects: readonly Seen[], revision: number, fail: (problem: string) => void): void {
    const expected: string[] = [];
    for (const [key, history] of this.#keys) {
      const at = lastAtMost(history.revisions, revision);
      const state = history.states[at];
      if (state !== undefined) expected.push(`${key}@${history.revisions[at]}=${state.by}`);
    }
    const got = objects.map((one) => `${one.key}@${one.revision}=${one.by}`).sort();
    if (got.join() !== expected.sort().join())
      fail(`the list at ${revision} shows ${got.join()}, the store had ${expected.join()}`);
  }

  #before(key: string, revision: number): { state: StoredState | undefined; revision: number } {
    const history = this.#keys.get(key);
    const at = history === undefined ? -1 : lastAtMost(history.revisions, revision - 1);
    return { state: history?.states[at], revision: history?.revisions[at] ?? 0 };
  }

  /** Whether a state of the key that was current at a revision in the range matches. */
  #holdsWithin(
    key: string,
    from: number,
    to: number,
    matches: (state: StoredState | undefined, revision: number) => boolean,
  ): boolean {
    const { revisions, states } = this.#keys.get(key) ?? { revisions: [], states: [] };
    for (let at = lastAtMost(revisions, from); at < revisions.length; at++) {
      if (at >= 0 && (revisions[at] as number) > to) return false;
      if (matches(states[at], at < 0 ? 0 : (revisions[at] as number))) return true;
    }
    return revisions.length === 0 && matches(undefined, 0);
  }

  /** The newest revision that can exist at the time. */
  #ceiling(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return this.#changes[low]?.revision === undefined
      ? Number.POSITIVE_INFINITY
      : (this.#changes[low] as Change).revision - 1;
  }

  #report(problem: string, ...context: readonly object[]): void {
    if (this.violations.length < reportedMax)
      this.violations.push([problem, ...context.map((one) => JSON.stringify(one))].join(" "));
  }
}

/** The newest revision that an answer shows to exist. */
function provedBy(answer: Operation["answer"]): number {
  if (answer.kind === "object") return answer.object.revision;
  return answer.kind === "list" ? answer.revision : 0;
}

/** Whether the state is a reason for the rejection. */
function explains(
  { verb, resourceVersion, answer }: Operation,
  state: StoredState | undefined,
  revision: number,
): boolean {
  const reason = answer.kind === "rejected" ? answer.reason : "";
  if (reason === "NotFound") return state === undefined;
  if (reason === "AlreadyExists") return verb === "create" && state !== undefined;
  return reason === "Conflict" && verb === "update" && String(revision) !== resourceVersion;
}

function valueBefore(times: readonly number[], values: readonly number[], time: number): number {
  const at = lastAtMost(times, time - 1);
  return at < 0 ? 0 : (values[at] as number);
}

/** The position of the last number that is at most the limit; -1 if there is none. */
function lastAtMost(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function after(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle] as Change).revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
