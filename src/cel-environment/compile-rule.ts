/**
 * One rule of `x-kubernetes-validations`, compiled: its program, what is wrong with it, and what it may cost.
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/compilation.go
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

/** An expression that compiled, or what is wrong with it. */
export type CompiledExpression =
  | {
      readonly program: Program;
      readonly checked: CheckedAst /** Units at worst. */;
      readonly costMax: bigint;
      readonly error?: undefined;
    }
  | { readonly error: string; readonly program?: undefined; readonly checked?: undefined; readonly costMax: 0n };

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined when the rule is blank. */
  readonly expression: CompiledExpression | undefined;
  /** Undefined when there is none, and when the rule itself is wrong. */
  readonly messageExpression: CompiledExpression | undefined;
  /** Whether it is a transition rule: it runs where there is an old value to compare with. */
  readonly usesOldSelf: boolean;
  /** `fieldPath` as field errors write it, such as `.spec.ports`; empty when there is none or it leads nowhere. */
  readonly fieldPath: string;
}

/** Makes the variables of a node of a schema: compile all its rules with one. */
export interface RuleEnvironments {
  /** For new expressions, or for those that are stored: see `environments.ts`. */
  readonly plain: Environment;
  /** With `oldSelf` as an optional. */
  readonly optional: Environment;
  readonly sizes: SizeHints;
}

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
 * @param schema the node that the rule stands at
 * @param forMessage what its message expression may use, when that is something else
 */
export function compileRule(
  rule: ValidationRule,
  schema: JsonSchema,
  environments: RuleEnvironments,
  forMessage = environments,
): CompiledRule {
  const nothing = { rule, expression: undefined, messageExpression: undefined, usesOldSelf: false, fieldPath: "" };
  if (rule.rule.trim() === "") return nothing;
  const variables = rule.optionalOldSelf === true ? "optional" : "plain";
  const expression = compile(rule.rule, environments[variables], environments.sizes, {
    prefix: "",
    type: "bool",
    mismatch: "cel expression must evaluate to a bool",
  });
  if (expression.program === undefined) return { ...nothing, expression };
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

interface Wanted {
  readonly prefix: string;
  readonly type: string;
  readonly mismatch: string;
}

function compile(text: string, environment: Environment, sizes: SizeHints, wanted: Wanted): CompiledExpression {
  const failed = (error: string): CompiledExpression => ({ error, costMax: 0n });
  let checked: CheckedAst;
  try {
    checked = environment.compile(text);
  } catch (error) {
    if (error instanceof CelSyntaxError) return failed(`${wanted.prefix}compilation failed: ${error.message}`);
    throw error;
  }
  if (formatType(checked.type) !== wanted.type) return failed(wanted.mismatch);
  try {
    return { program: environment.plan(checked), checked, costMax: environment.estimateCost(checked, sizes).max };
  } catch (error) {
    const what = wanted.prefix === "" ? "program" : wanted.prefix.trim();
    if (error instanceof CelSyntaxError) return failed(`${what} instantiation failed: ${error.message}`);
    throw error;
  }
}
