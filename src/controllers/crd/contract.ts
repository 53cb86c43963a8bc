/** What the controller of definitions must be told of them. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../catalog/contract.ts";

export interface DefinitionRules {
  /** Names of a group that definitions have been given. @param definitions with their names, groups and accepted names */
  usedNames(definitions: Iterable<KubeObject>, group: string): UsedNames;
  /** The status as it should be, but for being served; undefined when it is so already. @param now milliseconds since 1970 */
  nextStatus(definition: KubeObject, used: UsedNames, now: number): KubeObject["status"];
  /** Undefined where the kind cannot be served. */
  customDefinition(definition: KubeObject): ResourceDefinition | undefined;
  /** The condition of a definition whose names are accepted and whose kind is served. */
  establish(definition: KubeObject): DefinitionCondition;
  isConditionTrue(definition: KubeObject, type: "NamesAccepted" | "Established"): boolean;
  /** Of definitions whose objects go first. */
  readonly cleanupFinalizer: string;
  setCondition(definition: KubeObject, condition: DefinitionCondition, now: number): boolean;
}

export interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

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
