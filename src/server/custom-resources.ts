/** Serves custom resources and compiles their validation rules. Loaded for the first CustomResourceDefinition. */
import type { ConversionWebhooks } from "../apis/apiextensions/conversion/webhook-clients.ts";
import { customKinds } from "../apis/apiextensions/custom-kinds.ts";
import { objectRules } from "../cel-environment/object-rules.ts";
import {
  type DefinitionController,
  type DefinitionControllerOptions,
  definitionController,
} from "../controllers/crd/definitions.ts";

export { definitionRules } from "../cel-environment/definition-rules.ts";

export interface DefinitionNeeds extends Omit<DefinitionControllerOptions, "rules"> {
  readonly webhooks: ConversionWebhooks;
}

export function openDefinitions(needs: DefinitionNeeds): DefinitionController {
  return definitionController({ ...needs, rules: customKinds({ objectRules, webhooks: needs.webhooks }) });
}
