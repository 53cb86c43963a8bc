/**
 * The strategy that flow control kinds share: updates are validated like creates, and the status
 * has conditions only.
 */
import { validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { keepMeta, validateConditionTypes } from "./status.ts";

interface OwnRules {
  readonly columns: Strategy["columns"];
  readonly setDefaults: Strategy["setDefaults"];
  readonly declarative?: Strategy["declarative"];
  readonly validate: (...parameters: Parameters<Strategy["validate"]>) => void;
}

/** Creates the strategy of one kind. */
export function flowControlStrategy({ columns, setDefaults, declarative, validate }: OwnRules): Strategy {
  return strategy({
    columns,
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
