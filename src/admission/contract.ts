/**
 * Admission plugins change or reject a write between authorization and storage.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/interfaces.go.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resource } from "../catalog/contract.ts";
import type { AdmissionAttributes, AdmissionOperation } from "../registry/admission-attributes.ts";
import type { RegistryContext } from "../registry/contract.ts";

/** Each step is optional. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Changes the object. @throws ApiError to reject the write */
  mutate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * Checks permissions that the rules of the kind require, on a validated object. For a PUT or an
   * apply that creates, it runs before the check of the permission to create. Metrics do not count
   * it.
   * @throws ApiError to reject the write
   */
  authorize?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Checks the object. @throws ApiError to reject the write */
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

/** Records how a plugin or a step ended. */
export type Observe = (operation: AdmissionOperation, rejected: boolean, seconds: number) => void;

/** Records how the plugins of one step end, which are numbered in their order. */
export interface PluginsObserver {
  /** These plugins have accepted: at once, unless {@link PluginsObserver.timed} reports the time of one. */
  accepted(operation: AdmissionOperation, from: number, to: number): void;
  timed(plugin: number, operation: AdmissionOperation, seconds: number): void;
  rejected(plugin: number, operation: AdmissionOperation, seconds: number): void;
}

/** Each method is called once, when the chain is created; what it returns is called for each write. */
export interface AdmissionObserver {
  plugins(names: readonly string[], type: AdmissionType): PluginsObserver;
  /** For all plugins of one step together. */
  step(type: AdmissionType): Observe;
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

/** Receives which certificates were issued to clients that had requested a duration, for metrics. */
export interface CertificateDurationObserver {
  /** @param signer whose number is not bounded @param isHonored whether the certificate has about this duration */
  issued(signer: string, isHonored: boolean): void;
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

/** What the repair of node ports finds. */
export type PortError = "leak" | "repair" | "outOfRange" | "duplicate";

/** Receives what the repair of node ports finds, and that a run of it failed, for metrics. */
export interface PortRepairObserver {
  found(error: PortError): void;
  failed(): void;
}
