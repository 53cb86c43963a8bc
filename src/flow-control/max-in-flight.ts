/**
 * Limits on the requests in flight, without priorities and queues.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/maxinflight.go.
 */

import type { Filter, RequestState } from "../request/context.ts";
import { isLongRunning } from "../request/request-info.ts";
import type { FlowControlObserver, RequestKind } from "./contract.ts";
import { kindOf, rejectRequest } from "./reject.ts";
import { whenServed } from "./when-served.ts";

interface MaxInFlightOptions {
  /** Requests at once; 0 is no limit. */
  readonly limits: Readonly<Record<RequestKind, number>>;
  readonly observer: Pick<FlowControlObserver, "executing">;
  /** Called for each rejected request. */
  readonly rejected: (context: RequestState) => void;
}

const retryAfterSeconds = 1;

/** Creates the filter. Members of system:masters are served beyond the limits. */
export function maxInFlightFilter({ limits, observer, rejected }: MaxInFlightOptions): Filter {
  const inFlight = { mutating: 0, readOnly: 0 };
  return (context) => {
    if (isLongRunning(context.info)) return;
    const kind = kindOf(context);
    const limit = limits[kind];
    if (limit === 0) return;
    if (inFlight[kind] < limit) {
      inFlight[kind] += 1;
      observer.executing(kind, 1);
      return whenServed(context, () => {
        inFlight[kind] -= 1;
        observer.executing(kind, -1);
      });
    }
    if (context.user.groups.includes("system:masters")) return;
    rejected(context);
    throw rejectRequest(context, retryAfterSeconds);
  };
}
