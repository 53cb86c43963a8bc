/** Admission plugins change or reject a write between authorization and storage. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { Resolved, Resource } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { DerivedValue, DerivedWrite, Stored } from "../storage/contract.ts";
import type { Lifetime } from "../webhook/contract.ts";

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

/** A change of another object in the commit of a write. */
export type JointChange = JointWrite | JointCreation | JointValue;

/** Another object that is created in the commit of a write, by `prepareCreation` of the registry. */
export interface JointCreation {
  readonly target: Resolved;
  readonly key: string;
  /** Complete and valid. The commit fails with {@link JointConflict} when the key is not absent. */
  readonly object: KubeObject;
}

/**
 * A change of a value that is not an object of the catalog, such as a range of ports. Its `derive`
 * may throw {@link JointConflict}.
 */
export interface JointValue {
  readonly value: DerivedWrite;
}

/**
 * A joint change was not possible, because another writer was first: the attempt to store the write
 * is repeated from the current state.
 */
export class JointConflict extends Error {
  /** @param key of the value that another writer changed */
  constructor(key: string) {
    super(`another writer has changed ${key}`);
    this.name = "JointConflict";
  }
}

/** A change of the status of another object in the commit of a write. */
export interface JointWrite {
  readonly target: Resolved;
  readonly key: string;
  /**
   * Computes the new value while the commit is decided, without waiting, as `DerivedWrite` of the
   * storage contract.
   * @param update changes a copy of the object as a write of this server to its status, and encodes
   *   it
   * @returns undefined to leave the object as it is
   * @throws ApiError to reject the write
   */
  derive(newest: Stored, update: UpdateStatus): DerivedValue | undefined;
}

/** @param change changes the status of the object */
export type UpdateStatus = (
  change: (object: KubeObject) => void,
) => Required<Omit<DerivedValue, "shared">> & { object: KubeObject };

/** How long plugins can work on a request. */
export interface RequestLifetime extends Lifetime {
  /** When the time limit of the request ends, in milliseconds since 1970. */
  readonly endsAt: number;
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

/** Receives what plugins, webhooks and policies do to one request, in order. */
export interface AdmissionTrace {
  add(step: TraceStep): void;
}

/** What a plugin, or one of its webhooks or policies, did to a request. */
export interface TraceStep {
  /** The name of the plugin. */
  readonly plugin: string;
  readonly phase: "mutating" | "validating";
  /** The webhook or policy; undefined for the plugin as a whole. */
  readonly part?: string;
  /**
   * The objects that the step shows: configuration, binding, parameters. Users who cannot get one
   * of them do not see the step.
   */
  readonly objects?: readonly TracedObject[];
  /** `skipped`: it does not match the request, for the reason in `message`. */
  readonly outcome: "skipped" | "unchanged" | "changed" | "allowed" | "rejected" | "failed";
  readonly message?: string;
  /** The change as a JSON Patch. */
  readonly patch?: readonly object[];
  readonly seconds: number;
}

/** An object that a step of an explanation shows. */
export interface TracedObject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Each step is optional and throws an ApiError to reject the write. */
export interface AdmissionPlugin {
  readonly name: string;
  mutate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * Checks permissions that the rules of the kind require, on a validated object. For a PUT or an
   * apply that creates, it runs before the check of the permission to create. Metrics do not count
   * it.
   */
  authorize?(attributes: AdmissionAttributes): void | Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * Releases what belongs to an object that was removed, before the client is answered.
   *
   * @param object returns its last stored state
   * @param registry of the deletion
   */
  removed?(resource: Resource, object: () => KubeObject, registry: RegistryContext): void | Promise<void>;
}

/** The steps as metrics name them. */
export type AdmissionType = "admit" | "validate";

/** Returns the reinvocation state of an attempt, which it creates at the first call. */
export function reinvocationOf(attributes: AdmissionAttributes): Reinvocation {
  attributes.reinvocation ??= { isSecondRun: false, isRequested: false, states: new Map() };
  return attributes.reinvocation;
}

/** Records one call of a plugin or of a step. */
export type Observe = (operation: AdmissionOperation, rejected: boolean, seconds: number) => void;

/**
 * Each method is called once, when the chain is created; the function it returns is called for each
 * write.
 */
export interface AdmissionObserver {
  plugin(name: string, type: AdmissionType): Observe;
  /** For all plugins of one step together. */
  step(type: AdmissionType): Observe;
}

/**
 * All plugins. Each step returns undefined if no plugin waited, so that callers need not yield, and
 * throws or rejects with the ApiError of the first plugin that rejects the write.
 */
export interface Admission {
  mutate(attributes: AdmissionAttributes): void | Promise<void>;
  authorize(attributes: AdmissionAttributes): void | Promise<void>;
  validate(attributes: AdmissionAttributes): void | Promise<void>;
  /** Calls `removed` of all plugins; a plugin handles its own errors. */
  removed(resource: Resource, object: () => KubeObject, registry: RegistryContext): void | Promise<void>;
}

/** Which plugins run, by kube-apiserver's names, and their configuration. */
export interface AdmissionOptions {
  /** Plugins that run in addition to the defaults. */
  readonly enable: readonly string[];
  /** Default plugins that do not run. */
  readonly disable: readonly string[];
  /** The only plugins that run, instead of the defaults; excludes `enable` and `disable`. */
  readonly only?: readonly string[];
  /** File with an AdmissionConfiguration of `apiserver.config.k8s.io`: the configuration of plugins. */
  readonly configFile?: string;
  /** How long pods stay on a node that is not ready, in seconds; 300 by default. */
  readonly notReadyTolerationSeconds?: number;
  /** How long pods stay on a node that is unreachable, in seconds; 300 by default. */
  readonly unreachableTolerationSeconds?: number;
  /** Whether clients can request explanations: what each plugin, webhook and policy did to a dry run. */
  readonly explain?: boolean;
}

/** Whether the client requested a value, or the server chose it. */
export type AllocationScope = "static" | "dynamic";

/** The values of a range that are in use, and the others. */
export interface RangeUse {
  readonly allocated: number;
  readonly available: number;
}

/** Receives the results of allocations for services, for metrics. A range is like `10.0.0.0/16`. */
export interface AllocationObserver {
  addressAllocated(range: string, scope: AllocationScope, seconds: number): void;
  addressFailed(range: string, scope: AllocationScope): void;
  portAllocated(scope: AllocationScope): void;
  portFailed(scope: AllocationScope): void;
  /** Sets how the current use is read. */
  follow(use: () => { readonly addresses: ReadonlyMap<string, RangeUse>; readonly ports: RangeUse | undefined }): void;
}
