/**
 * Flow control decides when a request executes, and rejects it when its priority level is overloaded.
 * Source: KEP-1040.
 */
import type { UserInfo } from "../apimachinery/user.ts";
import type { Progress, Rejection } from "../lib/fair-queuing/contract.ts";
import type { RequestInfo } from "../request/request-info.ts";

/** What classification reads of a request. */
export interface RequestDigest {
  readonly user: Pick<UserInfo, "name" | "groups">;
  readonly info: Pick<
    RequestInfo,
    "isResourceRequest" | "path" | "verb" | "group" | "namespace" | "resource" | "subresource"
  >;
}

/** How a flow schema separates its requests into flows. */
export type DistinguisherMethod = "ByUser" | "ByNamespace";

/** The configured limits of a priority level, in seats. */
export interface ConfiguredLimits {
  readonly nominal: number;
  /** Without what the level can lend. */
  readonly min: number;
  /** With what the level can borrow. */
  readonly max: number;
}

/** The limits of a priority level until the next adjustment, and their reasons. */
export interface AdjustedLevel {
  readonly current: number;
  /** The number that ratios are relative to: the current limit, or another one if that is 0. */
  readonly denominator: number;
  readonly demandAverage: number;
  readonly demandDeviation: number;
  readonly demandHighWatermark: number;
  readonly demandSmoothed: number;
  readonly target: number;
}

/** Why a request is rejected. Values of upstream's metric. */
export type RejectReason = Rejection | "time-out";

/** Receives what happens, for metrics. Its functions must not throw. */
export interface FlowControlObserver {
  /** A priority level was added. `progress` returns its virtual times. */
  level(name: string, progress: () => Progress): LevelObserver;
  /** The fraction of its target that each level gets. */
  fairFraction(fraction: number): void;
  /** The requests that can execute, and wait, at all levels. */
  capacity(executing: number, waiting: number): void;
  /** A request entered a queue (1) or left it (-1). */
  waiting(kind: RequestKind, change: 1 | -1): void;
  /** A request started (1) or ended (-1). For watches, the end of their initial events. */
  executing(kind: RequestKind, change: 1 | -1): void;
}

/** Get, list and watch are read-only. */
export type RequestKind = "mutating" | "readOnly";

/** Observes one priority level. `at` is the time of the change, in milliseconds. */
export interface LevelObserver {
  /** A flow schema that uses the level was added. */
  schema(name: string): SchemaObserver;
  /** @param queueCapacity the requests that can wait; at least 1 */
  configured(limits: ConfiguredLimits, queueCapacity: number): void;
  adjusted(level: AdjustedLevel): void;
  /** The seats in use and of waiting requests. */
  seatDemand(seats: number, at: number): void;
  seatsInUse(seats: number, at: number): void;
  requests(phase: "waiting" | "executing", requests: number, at: number): void;
  epochAdvance(): void;
  /** The level does not exist any more. */
  removed(): void;
}

/** Observes the requests of one flow schema at one level. */
export interface SchemaObserver {
  estimated(seats: number): void;
  watchCount(watches: number): void;
  queueLength(length: number): void;
  waiting(requests: 1 | -1, seats: number): void;
  waited(seconds: number, executes: boolean): void;
  noAccommodation(): void;
  dispatched(): void;
  executing(requests: 1 | -1): void;
  seatsInUse(change: number): void;
  executed(seconds: number, type: "regular" | "watch"): void;
  rejected(reason: RejectReason): void;
  /** The flow schema does not exist any more, or uses another level. */
  removed(): void;
}
