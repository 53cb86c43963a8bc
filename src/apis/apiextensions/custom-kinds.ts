/** Implements the rules that the controller of definitions needs. */

import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../catalog/contract.ts";
import { isConditionTrue, setCondition } from "./condition-list.ts";
import { cachedNonStructural, establish, heldNames, nextStatus, type UsedNames } from "./conditions.ts";
import { type CustomDefinitionOptions, customDefinition } from "./custom-definition.ts";
import { cleanupFinalizer } from "./custom-resource-definition.ts";

/** @param options dependencies of the kinds */
export function customKinds(options: CustomDefinitionOptions) {
  const structureOf = cachedNonStructural();
  return {
    heldNames,
    nextStatus: (definition: KubeObject, used: UsedNames, now: number) =>
      nextStatus(definition, used, now, structureOf),
    establish,
    isConditionTrue,
    setCondition,
    cleanupFinalizer,
    customDefinition: (definition: KubeObject): ResourceDefinition | undefined => customDefinition(definition, options),
  };
}
