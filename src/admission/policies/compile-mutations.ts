/**
 * Compiles MutatingAdmissionPolicies. Source: `compilePolicy` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/mutating/compilation.go.
 */
import type { Compiled } from "../../cel-environment/compile-expression.ts";
import { jsonPatchName } from "../../cel-environment/mutation-types.ts";
import type { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import { listType, objectType } from "../../lib/cel/index.ts";
import { compileConditions, type MatchConditions } from "../expressions/match-conditions.ts";
import { policyCompiler } from "./compile-validations.ts";
import type { Policy } from "./contract.ts";

/** The compiled expressions of one policy. Errors are results of their evaluation. */
export interface CompiledMutations {
  readonly compiler: PolicyCompiler;
  /** Undefined without conditions. */
  readonly conditions: MatchConditions | undefined;
  readonly mutations: readonly CompiledMutation[];
}

/** One mutation. */
export interface CompiledMutation {
  readonly type: "ApplyConfiguration" | "JSONPatch";
  readonly expression: Compiled;
}

/** Compiles a policy at its first use. */
export function compiledMutations(policy: Policy): CompiledMutations {
  policy.compiled ??= compile(policy);
  return policy.compiled as CompiledMutations;
}

function compile({ spec, failurePolicy }: Policy): CompiledMutations {
  const { mutations = [], matchConditions = [] } = spec;
  const compiler = policyCompiler(spec);
  const patches = compiler.sharing({ hasPatchTypes: true });
  return {
    compiler,
    conditions: matchConditions.length === 0 ? undefined : compileConditions(compiler, matchConditions, failurePolicy),
    mutations: mutations.map(({ patchType, applyConfiguration, jsonPatch }) =>
      patchType === "JSONPatch"
        ? { type: "JSONPatch", expression: patches.compile(jsonPatch?.expression ?? "", patchTypes) }
        : {
            type: "ApplyConfiguration",
            expression: patches.compile(applyConfiguration?.expression ?? "", objectTypes),
          },
    ),
  };
}

const objectTypes = [objectType("Object")];
const patchTypes = [listType(objectType(jsonPatchName))];
