/**
 * The endpoints /livez, /readyz and /healthz.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/healthz/healthz.go.
 */

import type { PathHandler, PathRoute, RequestState } from "../../request/context.ts";
import type { AnswerHeaders } from "../../request/exchange.ts";

/** One health check. */
export interface HealthCheck {
  readonly name: string;
  /** @returns the problem, which requests of the single check show; undefined when the check passes */
  check(): string | undefined | Promise<string | undefined>;
  /** Another name by which requests can exclude the check, together with others. */
  readonly group?: string;
  /** The endpoints that include the check; all of them when unset. */
  readonly endpoints?: readonly HealthEndpoint[];
}

interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  /** During the grace period all checks of /livez pass. */
  readonly isInGracePeriod: () => boolean;
  /** Receives the result of each check, except for requests of a single check. */
  readonly observe: (name: string, endpoint: HealthEndpoint, ok: boolean) => void;
}

/** The three endpoints. */
export type HealthEndpoint = "livez" | "readyz" | "healthz";

/** @returns the routes of an endpoint and of its single checks */
export function healthRoutes(endpoint: HealthEndpoint, options: HealthOptions): PathRoute[] {
  const own = options.checks.filter(({ endpoints }) => endpoints?.includes(endpoint) ?? true);
  return [
    { path: `/${endpoint}`, handler: rootHandler(endpoint, { ...options, checks: own }) },
    ...own.map((check) => ({
      path: `/${endpoint}/${check.name}`,
      handler: (context: RequestState) => respondSingle(context, check),
    })),
  ];
}

function rootHandler(endpoint: HealthEndpoint, { checks, isInGracePeriod, observe }: HealthOptions): PathHandler {
  return async (context) => {
    const excluded = new Set(context.info.query.getAll("exclude"));
    const unused = new Set(excluded);
    const lines: string[] = [];
    let failed = false;
    for (const one of checks) {
      const by = [one.name, one.group].find((text) => text !== undefined && excluded.has(text));
      if (by !== undefined) {
        unused.delete(by);
        lines.push(`[+]${one.name} excluded${by === one.name ? "" : ` with ${by}`}: ok`);
        continue;
      }
      const problem = endpoint === "livez" && isInGracePeriod() ? undefined : await runCheck(one);
      observe(one.name, endpoint, problem === undefined);
      lines.push(problem === undefined ? `[+]${one.name} ok` : `[-]${one.name} failed: reason withheld`);
      failed ||= problem !== undefined;
    }
    if (unused.size > 0)
      lines.push(
        `warn: some health checks cannot be excluded: no matches for ${[...unused].map((text) => JSON.stringify(text)).join(",")}`,
      );
    if (failed) return respond(context, 500, `${lines.join("\n")}\n${endpoint} check failed\n`);
    if (!context.info.query.has("verbose")) return respond(context, 200, "ok");
    respond(context, 200, `${lines.join("\n")}\nhealthz check passed\n`);
  };
}

async function respondSingle(context: RequestState, check: HealthCheck): Promise<void> {
  const problem = await runCheck(check);
  // Upstream protects only errors here.
  if (problem === undefined) return respond(context, 200, "ok", plain);
  respond(context, 500, `internal server error: ${problem}\n`);
}

/** An exception is a failure of the check. */
async function runCheck({ check }: HealthCheck): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const plain: AnswerHeaders = { "content-type": "text/plain; charset=utf-8" };
const protectedText: AnswerHeaders = { ...plain, "x-content-type-options": "nosniff" };

function respond(context: RequestState, status: number, text: string, content = protectedText): void {
  const headers: AnswerHeaders = {
    "audit-id": context.auditId,
    "cache-control": "no-cache, private",
    ...content,
    ...context.headers,
  };
  context.exchange.respond(status, headers, Buffer.from(text));
}
