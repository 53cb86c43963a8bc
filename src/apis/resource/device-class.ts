/**
 * DeviceClass.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/deviceclass/strategy.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Strategy, StrategyContext } from "../../catalog/strategy-contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { longNameProblems } from "../../lib/names/names.ts";
import { isExtendedResource } from "../core/pod/resource-names.ts";
import { items } from "../fields.ts";
import { configsMax, validateConfiguration, validateSelectors } from "./device-config.ts";
import { validateList } from "./lists.ts";
import { deviceFeatures, type LoadSelectorChecker, type SelectorChecker } from "./selector-checker.ts";

/** @param load loads the checker of selectors; without it they are not checked */
export function deviceClassWith(load: LoadSelectorChecker | undefined): Strategy {
  return strategy({
    columns: [nameColumn, ageColumn],
    hasGeneration: true,
    repeatsMetaRules: false,
    validateName,
    declarative: { nameOrigin: "format=k8s-long-name" },
    validate: async (object, errors, context) =>
      validate(object, undefined, { checker: await load?.(), context }, errors),
    async validateUpdate(next, old, errors, context) {
      validateMetaAgain(next.metadata, { namespaced: false, validateName }, errors);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      validate(next, old, { checker: await load?.(), context }, errors);
    },
  });
}

/** Upstream validates the generated name, not its prefix. */
const validateName = (name: string, isPrefix: boolean): string[] => (isPrefix ? [] : longNameProblems(name));

interface ValidationContext {
  readonly checker: SelectorChecker | undefined;
  readonly context: StrategyContext;
}

/** Unchanged selectors and configuration are validated as stored ones, which is more lenient. */
function validate(
  { spec = {} }: KubeObject,
  old: KubeObject | undefined,
  { checker, context }: ValidationContext,
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
