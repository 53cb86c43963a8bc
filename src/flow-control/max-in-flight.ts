/**
 * Limits on the requests in flight, without priorities and queues.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/maxinflight.go.
 */
import type { Filter, RequestContext, RequestExecution } from "../http/contract.ts";
import { isLongRunning } from "../http/request-info.ts";
import type { FlowControlObserver, RequestKind } from "./contract.ts";
import { kindOf, rejectRequest } from "./reject.ts";

interface MaxInFlightOptions {
  /** Requests at once; 0 is no limit. */
  readonly limits: Readonly<Record<RequestKind, number>>;
  readonly observer: Pick<FlowControlObserver, "executing">;
  /** Called for each rejected request. */
  readonly rejected: (context: RequestContext) => void;
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

/**
 * Calls `run` once, when the endpoint has returned and the response has been sent or the client has
 * disconnected: a client that disconnects does not free what the endpoint still uses.
 */
export function whenServed(context: RequestContext, run: () => void): void {
  context.execution = new Served(run);
  context.exchange.onClose((context.execution as Served).closed);
}

class Served implements RequestExecution {
  readonly #run: () => void;
  /** Events until the end. */
  #left = 2;

  constructor(run: () => void) {
    this.#run = run;
  }

  readonly closed = (): void => this.#passed();

  returned(): void {
    this.#passed();
  }

  watchStarted(): void {}

  #passed(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#run();
  }
}
