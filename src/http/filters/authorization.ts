/** Authorizes requests. */
import { type Clock, systemClock } from "../../apimachinery/clock.ts";
import { plainError } from "../../apimachinery/errors.ts";
import type {
  AuthorizationAttributes,
  AuthorizationObserver,
  Authorizer,
  Decision,
} from "../../authorization/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Filter, RequestContext } from "../contract.ts";
import { escapeMarkup, forbiddenError } from "../forbidden-error.ts";
import { sendText } from "../respond.ts";

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
  context: RequestContext,
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
function fail(context: RequestContext, error: string): never {
  context.audit?.annotate("authorization.k8s.io/reason", "internal error");
  const text = `Internal Server Error: ${quoteGo(context.exchange.target)}: ${error}`;
  sendText(context, 500, escapeMarkup(text));
  throw plainError(text);
}

/** The attributes of a request for the authorizer. */
export function attributesOf({ info, user, exchange }: RequestContext): AuthorizationAttributes {
  return {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    path: info.path,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    fieldSelector: info.fieldSelector,
    labelSelector: info.labelSelector,
    connection: exchange,
  };
}
