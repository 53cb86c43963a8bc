/**
 * Compiles one rule of `x-kubernetes-validations`. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/compilation.go
 */
import {
  CelSyntaxError,
  type CheckedAst,
  type Environment,
  formatType,
  optionalType,
  type Program,
  type SizeHints,
} from "../lib/cel/index.ts";
import {
  type DeclType,
  type JsonSchema,
  sizeHintsOf,
  typeRegistry,
  type ValidationRule,
} from "../lib/cel/schema-types/index.ts";
import { parseFieldPath } from "./field-path.ts";

/** A compiled expression, or the error. `costMax` is the estimated maximum cost in units. */
type CompiledExpression =
  | {
      readonly program: Program;
      readonly checked: CheckedAst;
      readonly costMax: bigint;
      readonly error?: undefined;
    }
  | { readonly error: string; readonly program?: undefined; readonly checked?: undefined; readonly costMax: 0n };

/** A compiled rule. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined for a blank rule. */
  readonly expression: CompiledExpression | undefined;
  /** Undefined if there is none or the rule itself is invalid. */
  readonly messageExpression: CompiledExpression | undefined;
  /** Whether it is a transition rule, which needs an old value. */
  readonly usesOldSelf: boolean;
  /** The path for field errors, such as `spec.ports`; empty if there is none or it is invalid. */
  readonly fieldPath: string;
}

/** The environments of one schema node, for all of its rules. */
interface RuleEnvironments {
  readonly plain: Environment;
  /** With `oldSelf` as an optional. */
  readonly optional: Environment;
  readonly sizes: SizeHints;
}

/**
 * Declares `self` and `oldSelf`.
 *
 * @param base for new or for stored expressions: see `environments.ts`
 * @param type of the schema node
 */
export function ruleEnvironments(base: Environment, type: DeclType): RuleEnvironments {
  const types = typeRegistry();
  const self = types.typeOf(type, "selfType");
  const withOldSelf = (oldSelf: typeof self): Environment =>
    base.extend({
      types,
      variables: [
        { name: "self", type: self },
        { name: "oldSelf", type: oldSelf },
      ],
    });
  return { plain: withOldSelf(self), optional: withOldSelf(optionalType(self)), sizes: sizeHintsOf(type) };
}

/**
 * Compiles a rule.
 *
 * @param schema the node with the rule
 * @param forMessage environments of the message expression, if they differ
 */
export function compileRule(
  rule: ValidationRule,
  schema: JsonSchema,
  environments: RuleEnvironments,
  forMessage = environments,
): CompiledRule {
  const empty = { rule, expression: undefined, messageExpression: undefined, usesOldSelf: false, fieldPath: "" };
  if (rule.rule.trim() === "") return empty;
  const variables = rule.optionalOldSelf === true ? "optional" : "plain";
  const expression = compile(rule.rule, environments[variables], environments.sizes, {
    prefix: "",
    type: "bool",
    mismatch: "cel expression must evaluate to a bool",
  });
  if (expression.program === undefined) return { ...empty, expression };
  const usesOldSelf = [...expression.checked.references.values()].some(
    (found) => found.kind === "variable" && found.name === "oldSelf",
  );
  const messageExpression =
    rule.messageExpression === undefined || rule.messageExpression === ""
      ? undefined
      : compile(rule.messageExpression, forMessage[variables], environments.sizes, {
          prefix: "messageExpression ",
          type: "string",
          mismatch: "messageExpression must evaluate to a string",
        });
  const path =
    rule.fieldPath === undefined || rule.fieldPath === "" ? undefined : parseFieldPath(rule.fieldPath, schema);
  return { rule, expression, messageExpression, usesOldSelf, fieldPath: path?.path ?? "" };
}

interface Expectation {
  readonly prefix: string;
  readonly type: string;
  readonly mismatch: string;
}

function compile(text: string, environment: Environment, sizes: SizeHints, expected: Expectation): CompiledExpression {
  const failed = (error: string): CompiledExpression => ({ error, costMax: 0n });
  let checked: CheckedAst;
  try {
    checked = environment.compile(text);
  } catch (error) {
    if (error instanceof CelSyntaxError) return failed(`${expected.prefix}compilation failed: ${error.message}`);
    throw error;
  }
  if (formatType(checked.type) !== expected.type) return failed(expected.mismatch);
  try {
    return { program: environment.plan(checked), checked, costMax: environment.estimateCost(checked, sizes).max };
  } catch (error) {
    const subject = expected.prefix === "" ? "program" : expected.prefix.trim();
    if (error instanceof CelSyntaxError) return failed(`${subject} instantiation failed: ${error.message}`);
    throw error;
  }
}
