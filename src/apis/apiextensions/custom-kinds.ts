/** What the controller of definitions is told of them. */

import type { KubeObject } from "../../api/object.ts";
import type { ResourceDefinition } from "../../resource/contract.ts";
import { establish, isConditionTrue, nextStatus, setCondition, usedNames } from "./conditions.ts";
import { type CustomDefinitionOptions, customDefinition } from "./custom-definition.ts";
import { cleanupFinalizer } from "./custom-resource-definition.ts";

export function customKinds(options: CustomDefinitionOptions) {
  return {
    usedNames,
    nextStatus,
    establish,
    isConditionTrue,
    setCondition,
    cleanupFinalizer,
    customDefinition: (definition: KubeObject): ResourceDefinition | undefined => customDefinition(definition, options),
  };
}
