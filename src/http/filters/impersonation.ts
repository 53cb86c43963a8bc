/** Serves a request as another user, when its headers ask for that and the caller may. Source: access-control §5.2. */
import { ApiError } from "../../api/errors.ts";
import type { UserInfo } from "../../api/user.ts";
import type { AuthorizationAttributes, Authorizer } from "../../authorization/contract.ts";
import type { Filter } from "../contract.ts";
import { constrainedModes, impersonate, type Mode, olderMode } from "../impersonation/modes.ts";
import { wantedUser } from "../impersonation/wanted-user.ts";
import { attributesOf } from "./authorization.ts";

/** @param constrained gate ConstrainedImpersonation @throws ApiError 400, 403: that of the first way that was tried */
export function impersonationFilter(authorize: Authorizer, { constrained }: { readonly constrained: boolean }): Filter {
  const modes = constrained ? [...constrainedModes, olderMode] : [olderMode];
  const become = async (request: AuthorizationAttributes, wanted: UserInfo): Promise<Impersonated> => {
    let first: ApiError | undefined;
    for (const mode of modes) {
      if (!mode.fits(wanted, request.user)) continue;
      try {
        return { user: await impersonate(mode, authorize, request, wanted), constraint: constraintOf(mode) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        first ??= error;
      }
    }
    throw first; // There is one: the older way fits everybody.
  };
  return (context) => {
    const wanted = wantedUser(context.exchange);
    if (wanted === undefined) return;
    const done = context.audit?.timing("impersonation");
    return become(attributesOf(context), wanted).then(
      ({ user, constraint }) => {
        done?.();
        context.user = user;
        context.exchange.forgetHeaders(isImpersonationHeader);
        context.audit?.impersonated(user, constraint);
      },
      (error: unknown) => {
        context.headers["x-content-type-options"] = "nosniff";
        throw error;
      },
    );
  };
}

/** What stays of the wish when it is granted: nothing. */
function isImpersonationHeader(name: string): boolean {
  return name.startsWith("impersonate-");
}

interface Impersonated {
  readonly user: UserInfo;
  readonly constraint: string;
}

/** How audit names the way that was taken; empty for the older one. */
function constraintOf({ name }: Mode): string {
  return name === "" ? "" : `impersonate:${name}`;
}
