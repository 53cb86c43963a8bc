/**
 * The right to create, for a PUT or an apply that creates. Source: `withAuthorization` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/update.go.
 */
import { internalError } from "../../apimachinery/errors.ts";
import type { Authorizer, Decision } from "../../authorization/contract.ts";
import type { RequestContext } from "../contract.ts";
import { attributesOf } from "../filters/authorization.ts";
import { refusal } from "../refusal.ts";

/**
 * @returns checks that the user may create the object that the path names. The authorizer is asked at the first call; further attempts of the
 *   same request use its answer. It throws 403, and 500 when the authorizer neither allows nor answers without an error.
 */
export function createCheck(context: RequestContext, authorize: Authorizer): () => Promise<void> {
  let answer: Decision | Promise<Decision> | undefined;
  return async () => {
    const attributes = { ...attributesOf(context), verb: "create" };
    answer ??= authorize(attributes);
    const { decision, reason, error } = await answer;
    if (decision === "allow") return;
    if (error !== undefined) throw internalError(error);
    throw refusal(attributes, reason);
  };
}
