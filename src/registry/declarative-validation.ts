/**
 * Runs the declarative rules of a kind beside its hand-written validation, compares what both report, and lets rules that are not alpha decide
 * where they are enforced. Source: KEP-5073; k8s.io/apiserver@v0.36.0/pkg/registry/rest/validate.go.
 */
import type { StatusCause } from "../apimachinery/errors.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { compileRules, type DeclaredRules } from "../apimachinery/validation/declarative/compile.ts";
import type { DeclarativeValidation, Resolved } from "../catalog/contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { type Comparison, compareValidations } from "./compare-validations.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";

export interface Validated {
  /** At the storage version. */
  readonly object: KubeObject;
  /** Undefined on create. */
  readonly old?: KubeObject;
  /** What the hand-written validation found; takes what rules decide. */
  readonly errors: FieldErrors;
  /** The schema of the object where it is not the resource's. */
  readonly schema?: Struct;
}

/** Rules are those of the request's version. */
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
    // Whatever it is: a write that hand-written validation decides must not end by it.
    validation.panic(identifierOf(schema, subresource, old), error);
    if (isAuthoritative)
      errors.internal(
        "<nil>",
        `panic during declarative validation: ${error instanceof Error ? error.message : error}`,
      );
  }
}

/** Puts what the rules found into the place of the hand-written errors that they cover. Alpha rules leave these as they are. */
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

// What is compiled depends on the schema alone.
const compiled = new WeakMap<Struct, DeclaredRules>();

/** @throws Error where there are none, or markers are malformed */
function rulesOf(schema: Struct): DeclaredRules {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const rules = compileRules(schema);
  if (rules === undefined) throw new Error(`${schema.definition} has no declarative rules`);
  compiled.set(schema, rules);
  return rules;
}

function atRequestVersion({ version: { conversion } }: Resolved): (object: KubeObject) => KubeObject {
  return conversion === undefined ? (object) => object : (object) => conversion.fromStorage(cloneJson(object));
}

/** `resourceclaim_status_update` */
function identifierOf({ definition }: Struct, subresource: string, old: KubeObject | undefined): string {
  const kind = definition.slice(definition.lastIndexOf(".") + 1).toLowerCase();
  const path = subresource === "" ? "" : `_${subresource.replaceAll("/", "_")}`;
  return `${kind}${path}_${old === undefined ? "create" : "update"}`;
}
