/** What flow control's kinds have in common: an update is checked as a creation is, and the status tells conditions alone. Source: upstream's strategies. */
import { validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import type { Strategy } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { keepMeta, validateConditionTypes } from "./status.ts";

interface OwnRules {
  readonly setDefaults: Strategy["setDefaults"];
  readonly declarative?: Strategy["declarative"];
  readonly validate: (...parameters: Parameters<Strategy["validate"]>) => void;
}

export function flowControlStrategy({ setDefaults, declarative, validate }: OwnRules): Strategy {
  return strategy({
    hasGeneration: true,
    repeatsMetaRules: false,
    setDefaults,
    declarative,
    prepareForStatusUpdate: keepMeta,
    validate,
    validateUpdate(next, _old, errors, context) {
      validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
      validate(next, errors, context);
    },
    validateStatusUpdate: (next, _old, errors) => validateConditionTypes(next, errors),
  });
}
