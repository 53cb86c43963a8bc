/** Checks the expressions of webhook configurations and admission policies. */
import { boolType, type CelType, listType, nullType, objectType, stringType } from "../lib/cel/index.ts";
import { newExpressions, storedExpressions } from "./environments.ts";
import { jsonPatchName } from "./mutation-types.ts";
import { PolicyCompiler } from "./policy-expressions.ts";

interface Variables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  readonly hasPatchTypes: boolean;
}

interface Request {
  readonly text: string;
  readonly variables: Variables;
  /** Whether the stored object contains the expression. */
  readonly isStored: boolean;
}

type Use = "condition" | "message" | "annotation" | "object" | "patch";

const typesOf: Readonly<Record<Use, readonly CelType[]>> = {
  condition: [boolType],
  message: [stringType],
  annotation: [stringType, nullType],
  object: [objectType("Object")],
  patch: [listType(objectType(jsonPatchName))],
};

interface PolicyChecker {
  open(hasVariables: boolean): PolicyExpressions;
}

/**
 * The checks that the validation of the group admissionregistration.k8s.io calls.
 *
 * @param minCompatible the oldest release that can compile new expressions
 */
export function policyChecker(minCompatible: number): PolicyChecker {
  return { open: (hasVariables) => new PolicyExpressions(hasVariables, minCompatible) };
}

/**
 * The expressions of one policy. Each kind of expression has a compiler with the variables so far.
 */
class PolicyExpressions {
  readonly #hasVariables: boolean;
  readonly #minCompatible: number;
  readonly #variables: { name: string; expression: string }[] = [];
  readonly #compilers = new Map<string, PolicyCompiler>();

  constructor(hasVariables: boolean, minCompatible: number) {
    this.#hasVariables = hasVariables;
    this.#minCompatible = minCompatible;
  }

  addVariable(name: string, request: Request): string | undefined {
    const own = this.#compilerFor(request);
    const variable = { name, expression: request.text };
    this.#variables.push(variable);
    let problem: string | undefined;
    for (const compiler of this.#compilers.values()) {
      const { error } = compiler.addVariable(variable);
      if (compiler === own) problem = error;
    }
    return problem;
  }

  check({ use, ...request }: Request & { readonly use: Use }): string | undefined {
    return this.#compilerFor(request).compile(request.text, typesOf[use]).error;
  }

  #compilerFor({ variables, isStored }: Request): PolicyCompiler {
    const key = JSON.stringify([variables.hasParams, variables.hasAuthorizer, variables.hasPatchTypes, isStored]);
    const existing = this.#compilers.get(key);
    if (existing !== undefined) return existing;
    const compiler = new PolicyCompiler(isStored ? storedExpressions() : newExpressions(this.#minCompatible), {
      ...variables,
      hasVariables: this.#hasVariables,
    });
    for (const variable of this.#variables) compiler.addVariable(variable);
    this.#compilers.set(key, compiler);
    return compiler;
  }
}
