/** What makes kinds of definitions, and compiles their rules: loaded for the first definition. */
import { customKinds } from "../apis/apiextensions/custom-kinds.ts";
import { objectRules } from "../cel-environment/object-rules.ts";
import { type DefinitionController, definitionController } from "../controllers/crd/definitions.ts";
import type { DefinitionNeeds } from "./definitions.ts";

export { definitionRules } from "../cel-environment/definition-rules.ts";

export function openDefinitions(needs: DefinitionNeeds): DefinitionController {
  return definitionController({ ...needs, rules: customKinds({ objectRules, webhooks: needs.webhooks }) });
}
