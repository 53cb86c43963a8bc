/** The contract of elections by a Lease. Source: k8s.io/client-go@v0.36.0/tools/leaderelection. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { WriteFence } from "../../registry/contract.ts";
import type { Stored } from "../../storage/contract.ts";

/** The `spec` of a Lease that is a lock; unset fields are empty or 0. */
export interface ElectionRecord {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** Canonical texts of MicroTime. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
  readonly strategy: string;
  readonly preferredHolder: string;
}

/** A stored Lease. */
export interface StoredLease {
  readonly record: ElectionRecord;
  readonly revision: number;
  /** The Lease; must not be modified. */
  readonly object: KubeObject;
}

/** The Lease that candidates fight over. */
export interface LeaseLock {
  /** `kube-system/kube-controller-manager` */
  readonly description: string;
  /** The key in the store. */
  readonly key: string;
  /**
   * The Lease stored now.
   * @throws ApiError
   */
  read(): Promise<StoredLease | undefined>;
  /** @throws ApiError 409 when it exists */
  create(record: ElectionRecord): Promise<StoredLease>;
  /**
   * Replaces the spec.
   * @param revision what the Lease must have
   * @throws ApiError 404, 409
   */
  update(record: ElectionRecord, revision: number): Promise<StoredLease>;
  /** @returns the holder in the stored bytes; undefined when they cannot be read */
  holderOf(stored: Stored): string | undefined;
}

/** The intervals of an election, in milliseconds. */
export interface ElectionTimes {
  /** Other candidates wait for so long after the last renewal that they have observed. */
  readonly leaseDurationMs: number;
  /** The leader stops after so long without a renewal. */
  readonly renewDeadlineMs: number;
  /** Interval of attempts. */
  readonly retryPeriodMs: number;
}

/** Observes elections, for metrics. @param name that of the lock */
export interface ElectionObserver {
  isLeader(name: string, leads: boolean): void;
  /** A renewal had to read the Lease. */
  slowPath(name: string): void;
}

/**
 * The work of a leader.
 * @param fence permits writes while the lease is held
 * @returns stops the work; resolves when it has ended
 */
export type Lead = (fence: WriteFence) => () => Promise<void>;

/** The options of the election of the server that runs the controllers. */
export interface LeaderElectionOptions extends ElectionTimes {
  /** Undefined: if other servers can have the store open. */
  readonly elect: boolean | undefined;
  /** The namespace of the Lease. */
  readonly resourceNamespace: string;
  /** The name of the Lease. */
  readonly resourceName: string;
}
