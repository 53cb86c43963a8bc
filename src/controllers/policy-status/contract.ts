/**
 * How the controller checks expressions, without loading the code of expressions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/typechecking.go.
 */
import type { Struct } from "../../lib/schema/schema.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";

/** A kind with its schema: of a built-in kind, or of a custom one. */
export interface CheckedKind {
  /** For example `apps/v1, Kind=Deployment`. */
  readonly name: string;
  readonly schema: { readonly struct: Struct } | { readonly custom: JsonSchemaProps | undefined };
}

/** The parts of a policy that all its expressions share. */
export interface CheckedPolicy {
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  /** Undefined if the policy has no parameters; their kind can be unknown. */
  readonly params: { readonly schema: CheckedKind["schema"] | undefined } | undefined;
}

/**
 * Creates a function that returns the warning about an expression; empty if the expression fits all
 * kinds.
 */
export type PolicyTypeChecker = (
  kinds: readonly CheckedKind[],
  policy: CheckedPolicy,
) => (expression: string) => string;
