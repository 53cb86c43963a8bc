/** Authorizes requests. */
import { type Clock, systemClock } from "../../apimachinery/clock.ts";
import { plainError } from "../../apimachinery/errors.ts";
import { attributesOf } from "../../authorization/attributes-of.ts";
import type {
  AuthorizationAttributes,
  AuthorizationObserver,
  Authorizer,
  Decision,
} from "../../authorization/contract.ts";
import { escapeMarkup, forbiddenError } from "../../authorization/forbidden-error.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { sendText } from "../../request/answer.ts";
import type { Filter, RequestState } from "../../request/context.ts";

/** Receives the decision and duration of each authorization. */
export interface Attempts extends Pick<AuthorizationObserver, "attempted"> {
  readonly clock: Clock;
}

const unobserved: Attempts = { attempted() {}, clock: systemClock };

/**
 * Creates the filter, which throws ApiError 403 with upstream's message, or 500 when the authorizer
 * fails.
 */
export function authorizationFilter(authorize: Authorizer, { attempted, clock } = unobserved): Filter {
  return (context) => {
    const attributes = attributesOf(context);
    const answer = authorize(attributes);
    if (!(answer instanceof Promise)) {
      attempted(answer, 0); // A synchronous decision takes no measurable time.
      return check(context, attributes, answer);
    }
    const since = clock.now();
    const done = context.audit?.timing("authorization");
    return answer.then((decision) => {
      done?.();
      attempted(decision, clock.now() - since);
      return check(context, attributes, decision);
    });
  };
}

function check(
  context: RequestState,
  attributes: AuthorizationAttributes,
  { decision, reason, error }: Decision,
): undefined {
  if (decision !== "allow" && error !== undefined) return fail(context, error);
  context.audit?.annotate("authorization.k8s.io/decision", decision === "allow" ? "allow" : "forbid");
  context.audit?.annotate("authorization.k8s.io/reason", reason);
  if (decision === "allow") return;
  context.headers["x-content-type-options"] = "nosniff";
  throw forbiddenError(attributes, reason);
}

/** Sends text instead of a Status; the error only ends the request flow. */
function fail(context: RequestState, error: string): never {
  context.audit?.annotate("authorization.k8s.io/reason", "internal error");
  const text = `Internal Server Error: ${quoteGo(context.exchange.target)}: ${error}`;
  sendText(context, 500, escapeMarkup(text));
  throw plainError(text);
}
