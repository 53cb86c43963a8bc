import type { Logger } from "../apimachinery/logger.ts";
import type { RegistryContext } from "../registry/contract.ts";

/** Told what becomes of the keys of one queue, for metrics. */
export interface QueueObserver {
  /** A key waits for its turn. @returns to be called when it has come; what that returns, when the key has been looked at */
  added(): () => () => void;
  /** A key is looked at again later. */
  retried(): void;
}

/** @param name as upstream names the queue */
export type QueueObservers = (name: string) => QueueObserver;

/** What every controller is made with. */
export interface ControllerOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  readonly queues?: QueueObservers | undefined;
}

/** Something that brings the stored state towards what it should be, driven by state, not by events. */
export interface Controller {
  start(): void;
  /** Takes no new work; resolves when what is under way is done. */
  stop(): Promise<void>;
}
