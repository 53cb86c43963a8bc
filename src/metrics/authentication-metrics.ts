/**
 * The metrics of authentication. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/metrics.go.
 */

import type { Clock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import { requestedWebSocket } from "../apimachinery/web-socket-protocols.ts";
import type { Filter, RequestState } from "../request/context.ts";
import type { Metric } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms } from "./vectors.ts";

export const authenticationRows = {
  attempts: {
    name: "authentication_attempts",
    type: "counter",
    stability: "ALPHA",
    help: "Authentication attempts by result.",
    labels: ["result"],
  },
  durations: {
    name: "authentication_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of authentication in seconds, by result.",
    labels: ["result"],
    buckets: exponentialBounds(0.001, 2, 15),
  },
  users: {
    name: "authenticated_user_requests",
    type: "counter",
    stability: "ALPHA",
    help: "Authenticated requests by category of user name.",
    labels: ["username"],
  },
} as const satisfies MetricRows;

/** Records authentications. */
export interface AuthenticationMetrics {
  /** Wraps the authentication filter, to record its results. */
  around(authenticate: Filter): Filter;
  /** @returns the current metrics */
  collect(): Metric[];
}

type Result = "success" | "failure" | "error";

/** @returns empty metrics */
export function authenticationMetrics(clock: Clock): AuthenticationMetrics {
  const attempts = new Counters(authenticationRows.attempts);
  const durations = new Histograms(authenticationRows.durations);
  const users = new Counters(authenticationRows.users);
  const record = (result: Result, seconds: number): void => {
    attempts.count([result]);
    durations.observe([result], seconds);
  };
  const succeeded = ({ user }: RequestState, seconds: number): void => {
    users.count([userCategory(user.name)]);
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
    collect: () => [attempts, durations, users].map((one) => one.metric()),
  };
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
