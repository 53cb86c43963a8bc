/**
 * Checks the rules of a custom resource's schema when its definition is written: that they compile, what they may cost, where they may use
 * the old value. Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go and cel_validation.go
 */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { uint64Max } from "../lib/cel/index.ts";
import {
  type DeclType,
  declTypeOfSchema,
  escapeName,
  isEmbeddedResource,
  type JsonSchema,
  propertiesOf,
  type ValidationRule,
  valuesOf,
} from "../lib/cel/schema-types/index.ts";
import { type CompiledRule, compileRule, ruleEnvironments } from "./compile-rule.ts";
import { rulesOf } from "./compile-rules.ts";
import { newExpressions, storedExpressions } from "./environments.ts";
import { estimatedRuleLimit } from "./limits.ts";
import { maxElements, maxRepetitions, RuleCosts, timesSaturated, tooExpensive } from "./rule-costs.ts";

export interface CheckOptions {
  /** Expressions of the stored definition, of all its versions: they are held to what stored expressions may use. */
  readonly stored?: Expressions;
  /** Whether the schema is as it was: then no single rule is too expensive, for the limit may have been another when it was stored. */
  readonly isUnchanged?: boolean;
}

export interface Expressions {
  readonly rules: ReadonlySet<string>;
  readonly messageExpressions: ReadonlySet<string>;
}

/**
 * Adds what is wrong with rules to `errors`. Nodes of which `errors` has something already, at them or below, are left out: their types would
 * not be those that were meant. So call it last, and not at all when the schema is not structural.
 * @param schema structural, of a version
 * @param path of the schema, such as `spec.versions[0].schema.openAPIV3Schema`
 */
export function checkRules(schema: JsonSchema, path: string, errors: FieldErrors, options: CheckOptions = {}): void {
  for (const _ of ruleSteps(schema, path, errors, options));
}

/** {@link checkRules}, a hundred rules or so at a time. */
export function* ruleSteps(
  schema: JsonSchema,
  path: string,
  errors: FieldErrors,
  options: CheckOptions = {},
): Generator<void> {
  const before = errors.causes.map((cause) => cause.field ?? "");
  const costs = new RuleCosts();
  const root: Place = {
    schema,
    path,
    isRoot: true,
    parentType: undefined,
    isInScope: false,
    cardinality: 1n,
    uncorrelatable: undefined,
  };
  yield* new Checker({ errors, costs, options, isBroken: (at) => before.some((field) => isWithin(at, field)) }).node(
    root,
  );
  costs.report(path, errors);
}

/** All expressions of a schema, for `CheckOptions.stored`. */
export function expressionsOf(schemas: readonly JsonSchema[]): Expressions {
  const rules = schemas.flatMap(allRules);
  return {
    rules: new Set(rules.map((rule) => rule.rule)),
    messageExpressions: new Set(rules.flatMap((rule) => rule.messageExpression ?? [])),
  };
}

function allRules(schema: JsonSchema): readonly ValidationRule[] {
  const below = [schema.items, valuesOf(schema), ...(propertiesOf(schema)?.values() ?? [])].filter(
    (child) => child !== undefined,
  );
  return [...rulesOf(schema), ...below.flatMap(allRules)];
}

function isWithin(path: string, field: string): boolean {
  return field.startsWith(path) && ["", ".", "["].includes(field.charAt(path.length));
}

interface Place {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly isRoot: boolean;
  /** As the schema above sees it; undefined when it does not. */
  readonly parentType: DeclType | undefined;
  /** Whether there are rules here or above: then types are those that the schema above has. */
  readonly isInScope: boolean;
  /** How often data of this schema may stand in an object; undefined: nobody knows. */
  readonly cardinality: bigint | undefined;
  /** The nearest to the root above this of which old and new data cannot be told to be the same. */
  readonly uncorrelatable: string | undefined;
}

interface Shared {
  readonly errors: FieldErrors;
  readonly costs: RuleCosts;
  readonly options: CheckOptions;
  readonly isBroken: (path: string) => boolean;
}

/** Rules of a step. */
const stepMax = 100;

class Checker {
  readonly #shared: Shared;
  #checked = 0;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  *node(place: Place): Generator<void> {
    const { schema, path } = place;
    const rules = rulesOf(schema);
    const isInScope = place.isInScope || rules.length > 0;
    const type =
      place.parentType ??
      (isInScope ? declTypeOfSchema(schema, place.isRoot || isEmbeddedResource(schema)) : undefined);
    const elements = maxElements(schema);
    const cardinality =
      place.cardinality === undefined || elements === undefined
        ? undefined
        : timesSaturated(place.cardinality, elements);
    const child = (
      within: JsonSchema,
      at: string,
      parentType: DeclType | undefined,
      uncorrelatable: string | undefined,
    ): Generator<void> =>
      this.node({ schema: within, path: at, isRoot: false, parentType, isInScope, cardinality, uncorrelatable });
    const element = type?.kind === "list" || type?.kind === "map" ? type.element : undefined;
    const values = valuesOf(schema);
    if (values !== undefined) yield* child(values, `${path}.additionalProperties`, element, place.uncorrelatable);
    for (const [name, property] of propertiesOf(schema) ?? []) {
      const written = escapeName(name);
      const fieldType = type?.kind === "object" && written !== undefined ? type.fields.get(written) : undefined;
      const isCorrelatable = [undefined, "granular", "atomic"].includes(schema["x-kubernetes-map-type"]);
      yield* child(
        property,
        `${path}.properties[${name}]`,
        fieldType,
        place.uncorrelatable ?? (isCorrelatable ? undefined : path),
      );
    }
    const isKeyed = schema["x-kubernetes-list-type"] === "map";
    if (schema.items !== undefined)
      yield* child(schema.items, `${path}.items`, element, place.uncorrelatable ?? (isKeyed ? undefined : path));
    if (rules.length > 0 && !this.#shared.isBroken(path)) yield* this.#rules(place, rules, type);
  }

  *#rules(place: Place, rules: readonly ValidationRule[], type: DeclType | undefined): Generator<void> {
    const { errors, options } = this.#shared;
    const at = `${place.path}.x-kubernetes-validations`;
    if (type === undefined) {
      const why = "unable to convert structural schema to CEL declarations";
      return errors.internal(
        at,
        `internal error: failed to construct type information for x-kubernetes-validations rules: ${why}`,
      );
    }
    const fresh = ruleEnvironments(newExpressions(), type);
    const stored = options.stored === undefined ? fresh : ruleEnvironments(storedExpressions(), type);
    for (const [index, rule] of rules.entries()) {
      if (this.#checked++ % stepMax === 0) yield;
      const forRule = options.stored?.rules.has(rule.rule) === true ? stored : fresh;
      const forMessage = options.stored?.messageExpressions.has(rule.messageExpression ?? "") === true ? stored : fresh;
      this.#rule(place, `${at}[${index}]`, compileRule(rule, place.schema, forRule, forMessage), maxRepetitions(type));
    }
  }

  /** @param repetitions how often the rule may run where no limit says it */
  #rule(place: Place, at: string, compiled: CompiledRule, repetitions: bigint): void {
    const { errors, costs, options } = this.#shared;
    const { rule, expression, messageExpression } = compiled;
    const limit = options.isUnchanged === true ? uint64Max : estimatedRuleLimit;
    const cost = timesSaturated(expression?.costMax ?? 0n, place.cardinality ?? repetitions);
    if (cost > limit) errors.forbidden(`${at}.rule`, tooExpensive("estimated rule cost", cost, estimatedRuleLimit));
    costs.add(`${at}.rule`, cost);
    if (expression?.error !== undefined) errors.invalid(`${at}.rule`, internalRule(rule), expression.error);
    if (messageExpression?.error !== undefined) {
      errors.invalid(`${at}.messageExpression`, internalRule(rule), messageExpression.error);
    } else if (messageExpression !== undefined) {
      const { costMax } = messageExpression;
      if (costMax > limit)
        errors.forbidden(
          `${at}.messageExpression`,
          tooExpensive("estimated messageExpression cost", costMax, estimatedRuleLimit),
        );
      costs.add(`${at}.messageExpression`, costMax);
    }
    if (compiled.usesOldSelf && place.uncorrelatable !== undefined) {
      const where = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
      errors.invalid(`${at}.rule`, rule.rule, where);
    } else if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      errors.invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule");
    }
  }
}

/** As upstream shows a rule in messages: with the names its fields have in Go. */
function internalRule(rule: ValidationRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
