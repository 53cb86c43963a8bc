/**
 * The permission to create, for a PUT or an apply that creates. Source: `withAuthorization` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/update.go.
 */
import { internalError } from "../../apimachinery/errors.ts";
import { attributesOf } from "../../authorization/attributes-of.ts";
import type { Authorizer, Decision } from "../../authorization/contract.ts";
import { forbiddenError } from "../../authorization/forbidden-error.ts";
import type { RequestContext } from "../contract.ts";

/**
 * @returns a function that checks whether the user may create the object in the path. The first
 *   call runs the authorizer; later attempts of the request use its decision. It throws 403, or 500
 *   when the authorizer fails without allowing.
 */
export function createCheck(context: RequestContext, authorize: Authorizer): () => Promise<void> {
  let answer: Promise<Decision> | undefined;
  return async () => {
    const attributes = { ...attributesOf(context), verb: "create" };
    answer ??= Promise.resolve(authorize(attributes));
    const { decision, reason, error } = await answer;
    if (decision === "allow") return;
    if (error !== undefined) throw internalError(error);
    throw forbiddenError(attributes, reason);
  };
}
