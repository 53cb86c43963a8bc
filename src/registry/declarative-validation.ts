/**
 * Runs the declarative rules of a kind next to its hand-written validation, compares what both
 * report, and uses the errors of rules that are not alpha where they are enforced. Source:
 * KEP-5073; k8s.io/apiserver@v0.36.0/pkg/registry/rest/validate.go.
 */
import type { StatusCause } from "../apimachinery/errors.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { compileRules, type DeclaredRules } from "../apimachinery/validation/declarative/compile.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { DeclarativeValidation } from "../catalog/strategy-contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { type Comparison, compareValidations } from "./compare-validations.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";

export interface Validated {
  /** At the storage version. */
  readonly object: KubeObject;
  /** Undefined on create. */
  readonly old?: KubeObject;
  /** The errors of hand-written validation; those of enforced rules are added. */
  readonly errors: FieldErrors;
  /** The schema of the object if it is not the resource's. */
  readonly schema?: Struct;
}

/** Applies the rules of the request's version. */
export function validateDeclared(
  { gates, validation }: RegistryContext,
  { target, subresource }: Pick<WriteRequest, "target" | "subresource">,
  config: DeclarativeValidation,
  { object, old, errors, schema = target.version.schema }: Validated,
): void {
  if (!gates.enabled("DeclarativeValidation")) return;
  if (subresource !== "" && config.subresources?.includes(subresource) !== true) return;
  const isAuthoritative = config.enforced === true || gates.enabled("DeclarativeValidationTakeover");
  const hasOption = (name: string): boolean => config.hasOption?.(name, gates, old) === true;
  const at = schema === target.version.schema ? atRequestVersion(target) : (one: KubeObject) => one;
  const declared = new FieldErrors();
  try {
    const rules = rulesOf(schema);
    const next = at(object);
    const before = old && at(old);
    rules.check({ update: old !== undefined, hasOption, errors: declared }, "", next, before);
    if (errors.empty && declared.empty) return;
    const declaredOfOld = (): FieldErrors | undefined => {
      if (before === undefined) return undefined;
      const found = new FieldErrors();
      rules.check({ update: false, hasOption, errors: found }, "", before, undefined);
      return found;
    };
    const { mismatches, covered } = compareValidations({ handWritten: errors, declared, config, declaredOfOld });
    if (mismatches.length > 0) validation.mismatched(identifierOf(schema, subresource, old), mismatches);
    if (isAuthoritative && rules.enforceable) enforce(errors, declared, covered, gates);
  } catch (error) {
    // Catches everything: a write that hand-written validation decides must not fail for it.
    validation.panic(identifierOf(schema, subresource, old), error);
    if (isAuthoritative)
      errors.internal(
        "<nil>",
        `panic during declarative validation: ${error instanceof Error ? error.message : error}`,
      );
  }
}

/**
 * Replaces the hand-written errors that enforced rules cover by the errors of the rules. Alpha
 * rules change nothing.
 */
function enforce(
  errors: FieldErrors,
  declared: FieldErrors,
  covered: Comparison["covered"],
  gates: FeatureGates,
): void {
  const isEnforced = (cause: StatusCause): boolean => {
    const level = declared.marks.get(cause)?.level;
    return level === "standard" || (level === "beta" && gates.enabled("DeclarativeValidationBeta"));
  };
  errors.retain((cause) => covered.get(cause)?.every(isEnforced) !== true);
  declared.retain(isEnforced);
  errors.addAll(declared);
}

// The compiled rules depend on the schema alone.
const compiled = new WeakMap<Struct, DeclaredRules>();

/** @throws Error when there are no rules, or markers are malformed */
function rulesOf(schema: Struct): DeclaredRules {
  const existing = compiled.get(schema);
  if (existing !== undefined) return existing;
  const rules = compileRules(schema);
  if (rules === undefined) throw new Error(`${schema.definition} has no declarative rules`);
  compiled.set(schema, rules);
  return rules;
}

function atRequestVersion({ version: { conversion } }: Resolved): (object: KubeObject) => KubeObject {
  return conversion === undefined ? (object) => object : (object) => conversion.fromStorage(cloneJson(object));
}

/** For example `resourceclaim_status_update`. */
function identifierOf({ definition }: Struct, subresource: string, old: KubeObject | undefined): string {
  const kind = definition.slice(definition.lastIndexOf(".") + 1).toLowerCase();
  const path = subresource === "" ? "" : `_${subresource.replaceAll("/", "_")}`;
  return `${kind}${path}_${old === undefined ? "create" : "update"}`;
}
