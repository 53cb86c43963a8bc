/**
 * The rules for CustomResourceDefinitions that the definition controller needs.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../catalog/contract.ts";

/** Implemented by the kind CustomResourceDefinition. */
export interface DefinitionRules {
  /** Returns the names that a definition has. */
  heldNames(definition: KubeObject): HeldNames;
  /**
   * Computes the status, except the condition Established.
   * @param now milliseconds since 1970
   * @returns undefined when the status is current
   */
  nextStatus(definition: KubeObject, used: UsedNames, now: number): KubeObject["status"];
  /** Converts a definition for the catalog; undefined when the kind cannot be served. */
  customDefinition(definition: KubeObject): ResourceDefinition | undefined;
  /**
   * Returns the condition Established of a definition whose names are accepted and whose kind is
   * served.
   */
  establish(definition: KubeObject): DefinitionCondition;
  /** Returns whether the condition exists and has the status True. */
  isConditionTrue(definition: KubeObject, type: "NamesAccepted" | "Established"): boolean;
  /** The finalizer of definitions whose custom objects must be deleted first. */
  readonly cleanupFinalizer: string;
  /**
   * Sets a condition in the definition.
   * @param now milliseconds since 1970
   * @returns whether the definition has changed
   */
  setCondition(definition: KubeObject, condition: DefinitionCondition, now: number): boolean;
}

/** Receives the versions that definitions serve, whether they are established or not. */
export interface DefinedVersions {
  /** A definition is new, or may have changed. */
  set(definition: string, group: string, versions: readonly string[]): void;
  remove(definition: string): void;
}

/** The accepted names of a definition. */
export interface HeldNames {
  readonly group: string;
  readonly resources: readonly string[];
  readonly kinds: readonly string[];
  /** Whether it has not all names that it desires. */
  readonly waits: boolean;
}

/** The names that definitions of one group have. */
export interface UsedNames {
  readonly resources: Pick<ReadonlySet<string>, "has">;
  readonly kinds: Pick<ReadonlySet<string>, "has">;
}

/** A condition of a CustomResourceDefinition, without its transition time. */
export interface DefinitionCondition {
  readonly type:
    | "NamesAccepted"
    | "Established"
    | "NonStructuralSchema"
    | "KubernetesAPIApprovalPolicyConformant"
    | "Terminating";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}
