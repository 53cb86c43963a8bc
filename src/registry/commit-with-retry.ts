/**
 * Commits the result of an attempt, which runs again from the current state when another writer
 * wins.
 */

import { ApiError, conflict, objectModified, timeout } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource } from "../catalog/contract.ts";
import type { RequestAudit } from "../request/audit.ts";
import type { RequestLifetime } from "../request/lifetime.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import { readable } from "../watch-cache/unreadable.ts";
import { type Put, put, remove } from "./commit.ts";
import type { RegistryContext } from "./contract.ts";
import { currentEntry, readAfterCacheFailure } from "./current-entry.ts";
import { JointConflict } from "./joint-change.ts";
import { storedResource } from "./resource-names.ts";

/** What an attempt does to the stored object. */
export type Step =
  | ({ readonly do: "put" } & Put)
  | { readonly do: "remove"; readonly object: KubeObject } // The object is returned to the caller only.
  | { readonly do: "nothing"; readonly object: KubeObject };

export interface Outcome {
  readonly step: Step;
  /**
   * What is stored now; for "remove", the last stored state at the revision of the removal.
   * Undefined for a dry run of a creation.
   */
  readonly entry: Entry | undefined;
}

interface CommitTarget {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  /** Stops before the commit. */
  readonly dryRun: boolean;
  /** The limits of the request, until whose end the write is repeated. */
  readonly lifetime?: RequestLifetime | undefined;
  /** Records the time spent in the store. */
  readonly audit?: RequestAudit | undefined;
}

/** Limits how often other writers may win before a write of the server itself fails. */
const attemptsMax = 100;

/**
 * Computes the step from the existing object; called again for each retry. An error that it throws
 * ends the write.
 */
type Attempt = (existing: Entry | undefined) => Promise<Step>;

/**
 * Runs the attempt on the current state and commits its step; runs it again from the new state
 * whenever another writer wins. Writers of one object that lost once take turns: n concurrent
 * writers need about 2n attempts instead of n².
 * @throws ApiError 504 when other writers win until the request ends; 409 when they win every
 *   attempt of a write without a request; 500, 503 when the store cannot commit
 */
export async function commitWithRetry(
  registry: RegistryContext,
  target: CommitTarget,
  attempt: Attempt,
): Promise<Outcome> {
  const turn: Turn = { leave: undefined };
  try {
    return await commitInTurn(registry, target, attempt, turn);
  } finally {
    turn.leave?.();
  }
}

interface Turn {
  leave: (() => void) | undefined;
}

async function commitInTurn(
  registry: RegistryContext,
  target: CommitTarget,
  attempt: Attempt,
  turn: Turn,
): Promise<Outcome> {
  const store = storeOf(target.resource);
  const key = store.keyOf(target.namespace, target.name);
  let existing = await store.cache.ready().then(
    () => store.cache.latest().get(key),
    (error: unknown) => readAfterCacheFailure(error, store, key),
  );
  let fresh = false;
  for (let attempts = 1; ; attempts++) {
    let step: Step;
    try {
      step = await attempt(existing);
    } catch (error) {
      if (fresh || !(error instanceof ApiError)) throw error;
      // The cache of a remote store may lag: an attempt that fails on an old state may succeed on
      // the current one.
      const current = await currentEntry(store, key);
      if (current?.revision === existing?.revision) throw error;
      existing = current;
      fresh = true;
      continue;
    }
    if (target.dryRun || step.do === "nothing") {
      if (fresh) return { step, entry: existing };
      // No commit finds out that the cache of a remote store lags.
      const current = await currentEntry(store, key);
      fresh = true;
      if (current?.revision === existing?.revision) return { step, entry: existing };
      existing = current;
      continue;
    }
    const stopTimer = target.audit?.timing("etcd");
    const written =
      step.do === "put"
        ? await put(registry, target.resource, key, existing, step).catch(catchJointConflict)
        : await remove(registry, key, existing);
    stopTimer?.();
    if (written !== undefined && "entry" in written) return { step, entry: written.entry };
    checkRetry(registry, target, attempts);
    if (written === undefined) {
      existing = await currentEntry(store, key);
      continue;
    }
    existing =
      written.current && readable(written.current, (stored) => entryFromStored(stored, store.source), store.source);
    if (turn.leave === undefined) {
      turn.leave = await store.turns.enter(key);
      existing = await currentEntry(store, key); // Writers with earlier turns have committed.
    }
    fresh = true;
  }
}

function catchJointConflict(error: unknown): undefined {
  if (!(error instanceof JointConflict)) throw error;
}

/**
 * Whether another attempt may follow. An admission webhook that writes to the object of the request
 * can make every attempt fail.
 *
 * @throws ApiError 504 if the request has ended, 409 after the last attempt
 */
export function checkRetry(
  { clock }: Pick<RegistryContext, "clock">,
  { resource, name, lifetime }: Pick<CommitTarget, "resource" | "name" | "lifetime">,
  attempts: number,
): void {
  if (lifetime === undefined) {
    if (attempts === attemptsMax) throw conflict(storedResource(resource), name, objectModified);
    return;
  }
  if (clock.now() >= lifetime.endsAt || lifetime.isOver())
    throw timeout("request did not complete within requested timeout - context deadline exceeded");
}
