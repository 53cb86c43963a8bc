/**
 * The metrics of authentication. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/metrics.go.
 */

import type { Clock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import { requestedWebSocket } from "../apimachinery/web-socket-protocols.ts";
import type { Filter, RequestState } from "../request/context.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";

/** Records authentications. */
export interface AuthenticationMetrics {
  /** Wraps the authentication filter, to record its results. */
  around(authenticate: Filter): Filter;
  /** @returns the current metrics */
  collect(): Metric[];
}

type Result = "success" | "failure" | "error";

const bounds = exponentialBounds(0.001, 2, 15);

/** @returns empty metrics */
export function authenticationMetrics(clock: Clock): AuthenticationMetrics {
  const attempts: Record<Result, number> = { success: 0, failure: 0, error: 0 };
  const durations: Record<Result, Histogram> = {
    success: new Histogram(bounds),
    failure: new Histogram(bounds),
    error: new Histogram(bounds),
  };
  const users = new Map<string, number>();

  const record = (result: Result, seconds: number): void => {
    attempts[result]++;
    durations[result].observe(seconds);
  };
  const succeeded = ({ user }: RequestState, seconds: number): void => {
    const name = userCategory(user.name);
    users.set(name, (users.get(name) ?? 0) + 1);
    record("success", seconds);
  };
  const failed = (context: RequestState, error: unknown, seconds: number): never => {
    if (error instanceof ApiError) record(hasCredentials(context) ? "error" : "failure", seconds);
    throw error;
  };
  return {
    around: (authenticate) => (context) => {
      let pending: void | Promise<void>;
      try {
        pending = authenticate(context);
      } catch (error) {
        return failed(context, error, 0);
      }
      if (pending === undefined) return succeeded(context, 0); // A synchronous result takes no measurable time.
      const startedAt = clock.now();
      const seconds = (): number => (clock.now() - startedAt) / 1000;
      return pending.then(
        () => succeeded(context, seconds()),
        (error: unknown) => failed(context, error, seconds()),
      );
    },
    collect() {
      const results = Object.keys(attempts) as Result[];
      const seenResults = results.filter((result) => attempts[result] > 0);
      const label = (name: string, value: string): string => formatLabels([name], [value]);
      const counters = seenResults.map(
        (result): Sample => ({ suffix: "", labels: label("result", result), value: attempts[result] }),
      );
      const latencies = seenResults.flatMap((result) => [...durations[result].samples(label("result", result))]);
      const named = [...users].map(([name, value]): Sample => ({ suffix: "", labels: label("username", name), value }));
      return [
        metric("authentication_attempts", "counter", "Authentication attempts by result.", counters),
        metric(
          "authentication_duration_seconds",
          "histogram",
          "Duration of authentication in seconds, by result.",
          latencies,
        ),
        metric("authenticated_user_requests", "counter", "Authenticated requests by category of user name.", named),
      ];
    },
  };
}

function metric(name: string, type: Metric["type"], help: string, samples: Sample[]): Metric {
  return { name, type, stability: "ALPHA", help, samples };
}

/** Distinguishes invalid credentials (`error`) from missing credentials (`failure`). */
function hasCredentials({ exchange }: RequestState): boolean {
  return (
    exchange.header("authorization") !== undefined ||
    exchange.peerCertificate !== undefined ||
    (requestedWebSocket(exchange)?.bearerTokens.length ?? 0) > 0
  );
}

const knownUsers = new Set(["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"]);

/** Maps user names to categories, because their number is unbounded. */
function userCategory(name: string): string {
  if (knownUsers.has(name)) return name;
  return name.includes("@") ? "email_id" : "other";
}
