/** Serves custom resources and compiles their validation rules. Loaded for the first CustomResourceDefinition. */
import { customKinds } from "../apis/apiextensions/custom-kinds.ts";
import { objectRules } from "../cel-environment/object-rules.ts";
import { type DefinitionController, definitionController } from "../controllers/crd/definitions.ts";
import type { DefinitionNeeds } from "./definitions.ts";

export { definitionRules } from "../cel-environment/definition-rules.ts";

export function openDefinitions(needs: DefinitionNeeds): DefinitionController {
  return definitionController({ ...needs, rules: customKinds({ objectRules, webhooks: needs.webhooks }) });
}
