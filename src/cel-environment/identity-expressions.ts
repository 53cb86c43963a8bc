/**
 * Expressions of authentication and authorization configuration. Source: k8s.io/apiserver pkg/authentication/cel and pkg/authorization/cel
 */
import type { Environment } from "../lib/cel/index.ts";
import { type DeclType, typeRegistry } from "../lib/cel/schema-types/index.ts";
import { claimsDecl, subjectAccessReviewDecl, userInfoDecl } from "./declared-types.ts";

function withVariable(base: Environment, name: string, decl: DeclType): Environment {
  const types = typeRegistry();
  return base.extend({ types, variables: [{ name, type: types.typeOf(decl, "") }] });
}

/** With `claims`: a map from the names of claims to their values. */
export function claimsEnvironment(base: Environment): Environment {
  return withVariable(base, "claims", claimsDecl);
}

/** With `user`: `username`, `uid`, `groups` and `extra`. */
export function userEnvironment(base: Environment): Environment {
  return withVariable(base, "user", userInfoDecl);
}

/** With `request`: the spec of a SubjectAccessReview of v1. */
export function subjectAccessReviewEnvironment(base: Environment): Environment {
  return withVariable(base, "request", subjectAccessReviewDecl);
}
