/** What a server has reached: health checks, discovery and the issuer read it with each request. */

import { elects } from "../controllers/leader-election/options.ts";
import type { PendingVersions } from "../http/filters/storage-version-barrier.ts";
import type { ServerOptions } from "./options.ts";

/**
 * The objects that every store has exist; the CustomResourceDefinitions of the store are served; all
 * controllers run; the Lease of this server exists; the watch caches are loaded, or the wait for them has ended;
 * the storage versions of this server are reported.
 */
export type StartStep = "objects" | "definitions" | "controllers" | "identity" | "caches" | "storageVersions";

export interface ServerState {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The steps of the start that are complete. */
  readonly reached: Set<StartStep>;
  /** Resolves in the turn of the event loop after the one in which the server has started; never if its start fails. */
  readonly started: Promise<void>;
  /** Resolves `started`. */
  readonly reportStarted: () => void;
  isStopping: boolean;
  /** The delay of the shutdown has passed: open requests finish, and new ones are rejected. */
  isDraining: boolean;
  /** Called when the server begins to stop, while it still serves. They do not reject. */
  readonly stopHooks: (() => Promise<void>)[];
  /** Whether other servers can have the same store open. */
  readonly isShared: boolean;
  /** The health check of the election; undefined: there is none. */
  electionProblem: (() => string | undefined) | undefined;
  /** The report of storage versions; undefined before it begins, and without one. */
  pendingVersions: PendingVersions | undefined;
  /** 0 until the server listens. */
  port: number;
}

/**
 * The state of a server that starts now.
 * @param isShared whether other servers can have the same store open
 */
export function newState(options: ServerOptions, isShared: boolean): ServerState {
  const electionProblem = elects(options, isShared) ? () => undefined : undefined;
  const startedAt = options.clock.now();
  const { promise: started, resolve: reportStarted } = Promise.withResolvers<void>();
  const start = { startedAt, started, reportStarted, reached: new Set<StartStep>() };
  return {
    ...start,
    isStopping: false,
    isDraining: false,
    stopHooks: [],
    isShared,
    electionProblem,
    pendingVersions: undefined,
    port: 0,
  };
}
