/**
 * Checks the rules of a schema when a CustomResourceDefinition is written: compilation, estimated
 * cost, and use of the old value. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go and
 * cel_validation.go
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

/** How a write of a definition relates to the stored definition. */
interface CheckOptions {
  /** Expressions in all versions of the stored definition; they use `storedExpressions()`. */
  readonly stored?: Expressions;
  /**
   * Whether the schema is unchanged. Then the cost limit of a single rule does not apply, because
   * it could have been higher when the definition was stored.
   */
  readonly isUnchanged?: boolean;
  /** The oldest release that can compile new expressions; by default the one before that of the binary. */
  readonly minCompatible?: number;
}

/** The texts of all expressions in some schemas. */
interface Expressions {
  readonly rules: ReadonlySet<string>;
  readonly messageExpressions: ReadonlySet<string>;
}

/**
 * Checks all rules of a schema and adds field errors. Nodes with errors at them or below are
 * skipped, because their types are wrong; so call this after all other checks.
 *
 * @param schema of a version; must be structural
 * @param path of the schema, such as `spec.versions[0].schema.openAPIV3Schema`
 */
export function checkRules(schema: JsonSchema, path: string, errors: FieldErrors, options: CheckOptions = {}): void {
  for (const _ of ruleSteps(schema, path, errors, options));
}

/** {@link checkRules} in steps of a hundred rules. */
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

function isWithin(path: string, field: string): boolean {
  return field.startsWith(path) && ["", ".", "["].includes(field.charAt(path.length));
}

interface Place {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly isRoot: boolean;
  /**
   * The type of this node within its parent's type; undefined if expressions cannot access it
   * there.
   */
  readonly parentType: DeclType | undefined;
  /** Whether there are rules here or above. Then the type is that within the parent's type. */
  readonly isInScope: boolean;
  /** The maximum number of values of this node in an object; undefined if unlimited. */
  readonly cardinality: bigint | undefined;
  /** The topmost ancestor whose parts cannot be correlated with parts of the old value. */
  readonly uncorrelatable: string | undefined;
}

interface Shared {
  readonly errors: FieldErrors;
  readonly costs: RuleCosts;
  readonly options: CheckOptions;
  readonly isBroken: (path: string) => boolean;
}

const rulesPerStep = 100;

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
      const escaped = escapeName(name);
      const fieldType = type?.kind === "object" && escaped !== undefined ? type.fields.get(escaped) : undefined;
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
    const fresh = ruleEnvironments(newExpressions(options.minCompatible), type);
    const stored = options.stored === undefined ? fresh : ruleEnvironments(storedExpressions(), type);
    for (const [index, rule] of rules.entries()) {
      if (this.#checked++ % rulesPerStep === 0) yield;
      const forRule = options.stored?.rules.has(rule.rule) === true ? stored : fresh;
      const forMessage = options.stored?.messageExpressions.has(rule.messageExpression ?? "") === true ? stored : fresh;
      this.#rule(place, `${at}[${index}]`, compileRule(rule, place.schema, forRule, forMessage), maxRepetitions(type));
    }
  }

  /** @param repetitions how often the rule can run if the schema does not limit it */
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

/** The rule with the names of its Go fields, which the messages of kube-apiserver contain. */
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
