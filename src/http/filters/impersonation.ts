/**
 * Serves a request as another user, if its headers request that and the user is authorized. See
 * Kubernetes docs, Authenticating, User impersonation.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { attributesOf } from "../../authorization/attributes-of.ts";
import type { AuthorizationAttributes, Authorizer } from "../../authorization/contract.ts";
import type { ImpersonationMode, ImpersonationObserver } from "../../authorization/impersonation/contract.ts";
import { impersonatedUser } from "../../authorization/impersonation/impersonated-user.ts";
import { LastModes } from "../../authorization/impersonation/last-modes.ts";
import { constrainedModes, impersonate, type Mode, olderMode } from "../../authorization/impersonation/modes.ts";
import type { Filter, RequestState } from "../../request/context.ts";

/** Options of the impersonation filter. */
interface ImpersonationOptions {
  /** Gate ConstrainedImpersonation. */
  readonly constrained: boolean;
  /** Receives the attempts in constrained modes, and in the legacy mode after them. */
  readonly observer?: ImpersonationObserver & { readonly clock: Clock };
}

/** Creates the filter, which throws ApiError 400, or the 403 of the first mode tried. */
export function impersonationFilter(
  plain: Authorizer,
  { constrained, observer: requestedObserver }: ImpersonationOptions,
): Filter {
  const modes = constrained ? [...constrainedModes, olderMode] : [olderMode];
  const observer = constrained ? requestedObserver : undefined;
  const authorize = observer === undefined ? plain : observed(plain, observer);
  const lastModes = new LastModes();
  const become = async (request: AuthorizationAttributes, target: UserInfo): Promise<Impersonated> => {
    let first: ApiError | undefined;
    for (const mode of lastModes.order(request.user.name, modes)) {
      if (!mode.fits(target, request.user)) continue;
      try {
        const user = await impersonate(mode, authorize, request, target);
        lastModes.keep(request.user.name, mode);
        return { user, constraint: constraintOf(mode) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        first ??= error;
      }
    }
    throw first; // It is defined: the legacy mode applies to every user.
  };
  return (context) => {
    const target = requestedUser(context, constrained);
    if (target === undefined) return;
    const done = context.audit?.timing("impersonation");
    const since = observer?.clock.now() ?? 0;
    const report = (mode: ImpersonationMode | "", allowed: boolean): void => {
      done?.();
      observer?.attempted(mode, allowed, (observer.clock.now() - since) / 1000);
    };
    return become(attributesOf(context), target).then(
      ({ user, constraint }) => {
        report(modeOf(constraint), true);
        context.user = user;
        context.exchange.forgetHeaders(isImpersonationHeader);
        context.audit?.impersonated(user, constraint);
      },
      (error: unknown) => {
        report("", false);
        context.headers["x-content-type-options"] = "nosniff";
        throw error;
      },
    );
  };
}

/** Upstream rejects headers without a user name in the same way as those that are not allowed. */
function requestedUser(context: RequestState, constrained: boolean): UserInfo | undefined {
  try {
    return impersonatedUser(context.exchange, constrained);
  } catch (error) {
    context.headers["x-content-type-options"] = "nosniff";
    throw error;
  }
}

/** Reports each authorization to the observer. */
function observed(
  authorize: Authorizer,
  { authorized, clock }: NonNullable<ImpersonationOptions["observer"]>,
): Authorizer {
  return async (attributes) => {
    const since = clock.now();
    const decision = await authorize(attributes);
    authorized(modeOf(attributes.verb), decision.decision === "allow", (clock.now() - since) / 1000);
    return decision;
  };
}

/**
 * @param verb `impersonate`, `impersonate:user-info`, `impersonate-on:user-info:get`, or empty for
 *   the legacy mode
 */
function modeOf(verb: string): ImpersonationMode {
  return (verb.split(":")[1] ?? "legacy") as ImpersonationMode;
}

/** Whether a header is removed from the impersonated request. */
function isImpersonationHeader(name: string): boolean {
  return name.startsWith("impersonate-");
}

interface Impersonated {
  readonly user: UserInfo;
  readonly constraint: string;
}

/** The mode in the audit record; empty for the legacy mode. */
function constraintOf({ name }: Mode): string {
  return name === "" ? "" : `impersonate:${name}`;
}
