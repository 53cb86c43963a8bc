/** DeviceClass. Source: upstream's resource validation and strategy. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import type { Strategy, StrategyContext } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { longNameProblems } from "../../lib/names/names.ts";
import { isExtendedResource } from "../core/pod/quantity-names.ts";
import { items } from "../fields.ts";
import { configsMax, validateConfiguration, validateSelectors } from "./device-config.ts";
import { validateList } from "./lists.ts";
import { deviceFeatures, type LoadSelectorChecker, type SelectorChecker } from "./selector-checker.ts";

export function deviceClassWith(load: LoadSelectorChecker | undefined): Strategy {
  return strategy({
    hasGeneration: true,
    repeatsMetaRules: false,
    validateName: (name, prefix) => (prefix ? [] : longNameProblems(name)), // Of generated names upstream checks what came out.
    declarative: { nameOrigin: "format=k8s-long-name" },
    validate: async (object, errors, context) =>
      validate(object, undefined, { checker: await load?.(), context }, errors),
    async validateUpdate(next, old, errors, context) {
      validateMetaAgain(next.metadata, { namespaced: false, validateName: longNameProblems }, errors);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      validate(next, old, { checker: await load?.(), context }, errors);
    },
  });
}

interface Asked {
  readonly checker: SelectorChecker | undefined;
  readonly context: StrategyContext;
}

/** What has not changed at all is taken as it was. */
function validate(
  { spec = {} }: KubeObject,
  old: KubeObject | undefined,
  { checker, context }: Asked,
  errors: FieldErrors,
): void {
  const isSame = (field: string): boolean => old !== undefined && deepEqual(spec[field], old.spec?.[field]);
  const rules = { checker, isStored: isSame("selectors"), ...deviceFeatures(context) };
  validateSelectors(spec.selectors, rules, "spec.selectors", errors);
  const isStored = isSame("config");
  validateList(
    items(spec.config),
    configsMax,
    (config, path) => validateConfiguration(config, isStored, path, errors),
    "spec.config",
    errors.covered("maxItems"),
  );
  const name = spec.extendedResourceName;
  if (name !== undefined && !isExtendedResource(name))
    errors
      .covered("format=k8s-extended-resource-name")
      .invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
}
