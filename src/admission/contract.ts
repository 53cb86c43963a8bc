/** Admission: what may change or refuse a write between authorization and storage. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { Resolved } from "../catalog/contract.ts";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly target: Resolved;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The name in the path of the request; empty for a POST to a collection, whose object may have one all the same. */
  readonly pathName: string;
  /** The storage version; a mutating plugin changes it in place. Undefined on DELETE. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly warnings: string[];
  /** What is recorded of the request; see `annotateAudit`. Undefined where nothing is. */
  readonly audit?: RequestAudit | undefined;
  /** A plugin that takes something for this write adds what gives it back; run when the write, or this attempt at it, is not stored. */
  readonly undo: (() => void)[];
}

/** A plugin: any step may be left out. @throws ApiError to refuse */
export interface AdmissionPlugin {
  readonly name: string;
  mutate?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Asks for rights that the kind's own rules need, of valid objects: before the right to create, for a PUT or an apply that creates. Not counted. */
  authorize?(attributes: AdmissionAttributes): void | Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
}

/** What metrics call the two steps. */
export type AdmissionType = "admit" | "validate";

export type Observe = (operation: AdmissionOperation, rejected: boolean, seconds: number) => void;

/** Asked once for what is told of each call. */
export interface AdmissionObserver {
  plugin(name: string, type: AdmissionType): Observe;
  /** All plugins of one step. */
  step(type: AdmissionType): Observe;
}

export interface Admission {
  /** Undefined when nothing had to be waited for, so that callers need not yield. */
  mutate(attributes: AdmissionAttributes): void | Promise<void>;
  authorize(attributes: AdmissionAttributes): void | Promise<void>;
  validate(attributes: AdmissionAttributes): void | Promise<void>;
}

/** Names of plugins, as kube-apiserver calls them. */
export interface AdmissionOptions {
  /** That run beside those that do by default. */
  readonly enable: readonly string[];
  /** Of those that run by default, the ones that do not. */
  readonly disable: readonly string[];
}
