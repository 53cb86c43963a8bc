import type { Logger } from "../apimachinery/logger.ts";
import type { RegistryContext } from "../registry/contract.ts";

/** Observes the keys of one queue, for metrics. */
export interface QueueObserver {
  /**
   * Called when a key is enqueued.
   * @returns a function to call when the reconciliation starts, which returns one to call at its
   * end
   */
  added(): () => () => void;
  /** Called when a key is retried after a delay. */
  retried(): void;
}

/** Creates the observer of a queue. @param name the queue's name in upstream's metrics */
export type QueueObservers = (name: string) => QueueObserver;

/** Options of all controllers. */
export interface ControllerOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  readonly queues?: QueueObservers | undefined;
}

/**
 * Reconciles stored objects with their desired state. Level-driven: it acts on the current state,
 * not on events.
 */
export interface Controller {
  start(): void;
  /** Stops the controller; resolves when running reconciliations have ended. */
  stop(): Promise<void>;
}
