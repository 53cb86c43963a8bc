/** What the registry reports to admission about a write. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { AdmissionTrace } from "../request/admission-trace.ts";
import type { RequestAudit } from "../request/audit.ts";
import type { RequestLifetime } from "../request/lifetime.ts";
import type { JointChange } from "./joint-change.ts";

/** The operations that admission plugins distinguish. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/**
 * The write that plugins check. Source: `Attributes` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/interfaces.go.
 */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly target: Resolved;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /**
   * The name in the request path; empty for a POST to a collection, even if the object has a name.
   */
  readonly pathName: string;
  /** In the storage version; a mutating plugin changes it in place. Undefined on DELETE. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * Returns the options of the request with `kind` and `apiVersion`, such as CreateOptions, in
   * upstream's order of fields; null for CONNECT.
   */
  readonly options: () => Readonly<Record<string, unknown>> | null;
  readonly warnings: string[];
  /** The audit record, see `annotateAudit`; undefined if the request is not audited. */
  readonly audit?: RequestAudit | undefined;
  /** Undefined for writes of the server itself. */
  readonly lifetime?: RequestLifetime | undefined;
  /**
   * A plugin that reserves something for this write adds a function that releases it. They run if
   * this attempt to store the write fails.
   */
  readonly undo: (() => void)[];
  /** Functions that run after this attempt was stored, before the client is answered. */
  readonly done: (() => void | Promise<void>)[];
  /**
   * A plugin adds changes of other objects that are committed together with this write, or not at
   * all. A dry run commits none.
   */
  readonly joint: JointChange[];
  /** Receives what plugins do, if the client requested an explanation. */
  readonly trace?: AdmissionTrace | undefined;
  /** Set by the first mutating plugin that calls others or may be called again. */
  reinvocation?: Reinvocation;
}

/**
 * The state of mutating plugins that can be called again for the same attempt of a write. Source:
 * `ReinvocationContext` in k8s.io/apiserver@v0.36.0/pkg/admission/interfaces.go.
 */
export interface Reinvocation {
  /** Whether the chain runs for the second time. */
  isSecondRun: boolean;
  /** A plugin sets it to make the chain run a second time, when it has changed the object. */
  isRequested: boolean;
  /** Set when a plugin has replaced the object by one that was encoded before. */
  isReplaced?: boolean;
  /** The state of each plugin, by plugin name. */
  readonly states: Map<string, unknown>;
}

/** Returns the reinvocation state of an attempt, which it creates at the first call. */
export function reinvocationOf(attributes: AdmissionAttributes): Reinvocation {
  attributes.reinvocation ??= { isSecondRun: false, isRequested: false, states: new Map() };
  return attributes.reinvocation;
}
