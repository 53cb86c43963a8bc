/**
 * TokenReview: returns the user of a token, by all methods that this server has for bearer tokens.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/authentication/tokenreview/storage.go`.
 */
import { badRequest, internalError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { withAuthenticatedGroup } from "../../apimachinery/user.ts";
import type { TokenAuthenticator } from "../../authentication/contract.ts";
import { joinErrors } from "../../lib/json/quote.ts";
import type { Review } from "../../registry/contract.ts";
import type { Part } from "../fields.ts";
import { userInfoOf } from "./user-info.ts";

/** Always the first error: upstream first tries the token with which the server calls itself. */
const invalid = "invalid bearer token";

/** Options of {@link tokenReview}. */
export interface TokenReviewOptions {
  readonly authenticate: TokenAuthenticator;
  /** Audiences of reviews without audiences: those of this server. */
  readonly audiences: readonly string[];
}

/** Creates the review. */
export function tokenReview({ authenticate, audiences }: TokenReviewOptions): Review {
  return {
    check(sent, namespace) {
      if (namespace !== "") throw badRequest(`namespace is not allowed on this type: ${namespace}`);
      if ((sent.spec?.token ?? "") === "") throw badRequest("token is required for TokenReview in authentication");
    },
    async answer(sent) {
      const asked: readonly string[] = sent.spec.audiences ?? [];
      sent.status = await statusOf(authenticate, sent.spec.token, asked.length > 0 ? asked : audiences);
      return sent;
    },
  };
}

async function statusOf(
  authenticate: TokenAuthenticator,
  token: string,
  audiences: readonly string[],
): Promise<KubeObject["status"]> {
  const bearer = asHeader(token);
  const answer = bearer === "" ? undefined : await authenticate(bearer, audiences);
  if (answer === undefined) return { user: {}, error: invalid };
  if ("problems" in answer) return { user: {}, error: joinErrors([invalid, ...answer.problems]) };
  if (!audiences.some((audience) => answer.audiences.includes(audience)))
    throw internalError("error validating audiences");
  const status: Part = {
    authenticated: true,
    user: userInfoOf(withAuthenticatedGroup(answer.user)),
    audiences: [...answer.audiences],
  };
  return status;
}

/** The part of the token that an Authorization header would have: up to the first space. */
function asHeader(token: string): string {
  return `Bearer ${token}`.trim().split(" ", 2)[1] ?? "";
}
