/** Applies a mutation to the tested object, as a server does, but without defaults. */
import { applyConfiguration, applyPatch, MutationError } from "../../admission/policies/apply-mutation.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import type { CelValue } from "../../lib/cel/index.ts";
import type { PlainObject } from "../cel/documents.ts";
import type { TestedRequest } from "./tested-request.ts";

interface Mutation {
  readonly member: "jsonPatch" | "applyConfiguration";
  readonly object: PlainObject;
  readonly request: TestedRequest;
}

/** Only built-in kinds have a known schema. */
export function applyMutation(
  value: CelValue,
  { member, object, request: { group, version, kind } }: Mutation,
): { readonly object?: PlainObject; readonly error?: string } {
  const definition = definitionOf(group, version, kind);
  if (definition === undefined) return { error: "is not applied, because the schema of the kind is unknown" };
  const apply = member === "jsonPatch" ? applyPatch : applyConfiguration;
  try {
    return { object: apply(value, object as unknown as KubeObject, builtinSchema(definition)) };
  } catch (error) {
    if (error instanceof MutationError || error instanceof ApiError) return { error: error.message };
    throw error;
  }
}
