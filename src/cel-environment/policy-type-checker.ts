/**
 * Checks the expressions of a policy against the types that it matches. The problems are warnings:
 * they do not change how the policy is evaluated. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/typechecking.go.
 */
import { type DeclType, declTypeOfSchema, declTypeOfStruct, type JsonSchema } from "../lib/cel/schema-types/index.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { storedExpressions } from "./environments.ts";
import { PolicyCompiler } from "./policy-expressions.ts";

/** A kind with its schema: of a built-in kind, or of a custom one. */
export interface CheckedKind {
  /** For example `apps/v1, Kind=Deployment`. */
  readonly name: string;
  readonly schema: { readonly struct: Struct } | { readonly custom: JsonSchema | undefined };
}

/** The parts of a policy that all its expressions share. */
interface CheckedPolicy {
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  /** Undefined if the policy has no parameters; their kind can be unknown. */
  readonly params: { readonly schema: CheckedKind["schema"] | undefined } | undefined;
}

/** Returns the warning about an expression; empty if it fits all kinds. */
export type CheckTypes = (expression: string) => string;

/** Creates the check of a policy's expressions. */
export function policyTypeChecker(kinds: readonly CheckedKind[], { variables, params }: CheckedPolicy): CheckTypes {
  const paramsType = params?.schema && declOf(params.schema);
  const compilers = kinds.map(({ name, schema }) => {
    const objectType = declOf(schema);
    const compiler = new PolicyCompiler(storedExpressions(), {
      hasParams: params !== undefined,
      hasAuthorizer: true,
      hasRequestResource: false,
      hasPatchTypes: false,
      ...(objectType && { objectType }),
      ...(paramsType && { paramsType }),
    });
    for (const variable of variables) compiler.addVariable(variable);
    return { name, compiler };
  });
  return (expression) =>
    compilers
      .map(({ name, compiler }) => ({ name, issues: compiler.typeIssues(expression) }))
      .filter(({ issues }) => issues !== undefined)
      .map(({ name, issues }) => `${name}: ${issues}\n`)
      .join("\n");
}

function declOf(schema: CheckedKind["schema"]): DeclType | undefined {
  if ("struct" in schema) return declTypeOfStruct(schema.struct);
  return schema.custom && declTypeOfSchema(schema.custom, true);
}
