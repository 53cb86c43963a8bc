/** Serves a request as another user, when its headers ask for that and the caller may. Source: access-control §5.2. */
import type { Clock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer } from "../../authorization/contract.ts";
import type { Filter } from "../contract.ts";
import type { ImpersonationMode, ImpersonationObserver } from "../impersonation/contract.ts";
import { LastModes } from "../impersonation/last-modes.ts";
import { constrainedModes, impersonate, type Mode, olderMode } from "../impersonation/modes.ts";
import { wantedUser } from "../impersonation/wanted-user.ts";
import { attributesOf } from "./authorization.ts";

export interface ImpersonationOptions {
  /** Gate ConstrainedImpersonation. */
  readonly constrained: boolean;
  /** Told of the constrained ways, and of the older one beside them; and by which clock. */
  readonly observer?: ImpersonationObserver & { readonly clock: Clock };
}

/** @throws ApiError 400, 403: that of the first way that was tried */
export function impersonationFilter(plain: Authorizer, { constrained, observer: given }: ImpersonationOptions): Filter {
  const modes = constrained ? [...constrainedModes, olderMode] : [olderMode];
  const observer = constrained ? given : undefined;
  const authorize = observer === undefined ? plain : observed(plain, observer);
  const lastModes = new LastModes();
  const become = async (request: AuthorizationAttributes, wanted: UserInfo): Promise<Impersonated> => {
    let first: ApiError | undefined;
    for (const mode of lastModes.order(request.user.name, modes)) {
      if (!mode.fits(wanted, request.user)) continue;
      try {
        const user = await impersonate(mode, authorize, request, wanted);
        lastModes.keep(request.user.name, mode);
        return { user, constraint: constraintOf(mode) };
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
    const since = observer?.clock.now() ?? 0;
    const told = (mode: ImpersonationMode | "", allowed: boolean): void => {
      done?.();
      observer?.attempted(mode, allowed, (observer.clock.now() - since) / 1000);
    };
    return become(attributesOf(context), wanted).then(
      ({ user, constraint }) => {
        told(modeOf(constraint), true);
        context.user = user;
        context.exchange.forgetHeaders(isImpersonationHeader);
        context.audit?.impersonated(user, constraint);
      },
      (error: unknown) => {
        told("", false);
        context.headers["x-content-type-options"] = "nosniff";
        throw error;
      },
    );
  };
}

/** Tells of each question. */
function observed(authorize: Authorizer, { asked, clock }: NonNullable<ImpersonationOptions["observer"]>): Authorizer {
  return async (attributes) => {
    const since = clock.now();
    const decision = await authorize(attributes);
    asked(modeOf(attributes.verb), decision.decision === "allow", (clock.now() - since) / 1000);
    return decision;
  };
}

/** @param verb `impersonate`, `impersonate:user-info`, `impersonate-on:user-info:get`; or what stands for the older way in audit: nothing */
function modeOf(verb: string): ImpersonationMode {
  return (verb.split(":")[1] ?? "legacy") as ImpersonationMode;
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
