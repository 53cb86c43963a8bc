/**
 * Compiles ValidatingAdmissionPolicies. Source: `compilePolicy` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/plugin.go.
 */
import type { Compiled } from "../../cel-environment/compile-expression.ts";
import { storedExpressions } from "../../cel-environment/environments.ts";
import { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import { boolType, nullType, stringType } from "../../lib/cel/index.ts";
import { compileConditions, type MatchConditions } from "../expressions/match-conditions.ts";
import type { Policy, Validation } from "./contract.ts";

/** The compiled expressions of one policy. Errors are results of their evaluation. */
export interface CompiledValidations {
  readonly compiler: PolicyCompiler;
  /** Undefined without conditions. */
  readonly conditions: MatchConditions | undefined;
  readonly validations: readonly CompiledValidation[];
  readonly hasMessages: boolean;
  readonly annotations: readonly CompiledAnnotation[];
}

interface CompiledValidation {
  readonly spec: Validation;
  readonly expression: Compiled;
  readonly message: Compiled | undefined;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: Compiled;
}

/** Compiles a policy at its first use. */
export function compiledValidations(policy: Policy): CompiledValidations {
  policy.compiled ??= compile(policy);
  return policy.compiled as CompiledValidations;
}

function compile({ spec, failurePolicy }: Pick<Policy, "spec" | "failurePolicy">): CompiledValidations {
  const { validations = [], auditAnnotations = [], matchConditions = [] } = spec;
  const compiler = policyCompiler(spec);
  const messages = validations.some(({ messageExpression = "" }) => messageExpression !== "")
    ? compiler.sharing({ hasAuthorizer: false })
    : undefined;
  return {
    compiler,
    conditions: matchConditions.length === 0 ? undefined : compileConditions(compiler, matchConditions, failurePolicy),
    validations: validations.map((each) => ({
      spec: each,
      expression: compiler.compile(each.expression ?? "", [boolType]),
      message: each.messageExpression ? messages?.compile(each.messageExpression, [stringType]) : undefined,
    })),
    hasMessages: messages !== undefined,
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      expression: compiler.compile(valueExpression, [stringType, nullType]),
    })),
  };
}

/** A compiler with the variables of the policy. */
export function policyCompiler({ paramKind, variables = [] }: Policy["spec"]): PolicyCompiler {
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: paramKind !== undefined,
    hasAuthorizer: true,
    hasPatchTypes: false,
  });
  for (const variable of variables) compiler.addVariable(variable);
  return compiler;
}
