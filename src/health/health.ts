/** /livez, /readyz and /healthz. Source: access-control §4.1; upstream's texts. */
import type { AnswerHeaders, RequestContext } from "../http/contract.ts";

export interface HealthCheck {
  readonly name: string;
  /** @returns why it fails, for the log only; undefined when all is well */
  check(): string | undefined | Promise<string | undefined>;
  /** A check that only tells whether requests should be sent here. */
  readonly readinessOnly?: boolean;
}

export interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  /** Until then a failing liveness check (but `ping` and `log`) counts as passed. */
  readonly graceUntil: () => boolean;
  /** Told of each check that was made under an endpoint as a whole. */
  readonly observe: (name: string, endpoint: HealthEndpoint, ok: boolean) => void;
}

export type HealthEndpoint = "livez" | "readyz" | "healthz";

/** @returns the handler of one endpoint and of everything below it */
export function healthHandler(
  endpoint: HealthEndpoint,
  { checks, graceUntil, observe }: HealthOptions,
): (context: RequestContext) => Promise<void> {
  const own = checks.filter(({ readinessOnly }) => endpoint === "readyz" || readinessOnly !== true);
  return async (context) => {
    const name = context.info.path.slice(endpoint.length + 2);
    if (name !== "") return answerOne(context, own, name);
    const excluded = new Set(context.info.query.getAll("exclude"));
    const lines: string[] = [];
    let failed = false;
    for (const one of own) {
      if (excluded.delete(one.name)) {
        lines.push(`[+]${one.name} excluded: ok`);
        continue;
      }
      const problem = endpoint === "livez" && graceUntil() ? undefined : await outcome(one);
      observe(one.name, endpoint, problem === undefined);
      lines.push(problem === undefined ? `[+]${one.name} ok` : `[-]${one.name} failed: reason withheld`);
      failed ||= problem !== undefined;
    }
    if (excluded.size > 0)
      lines.push(
        `warn: some health checks cannot be excluded: no matches for ${[...excluded].map((text) => JSON.stringify(text)).join(",")}`,
      );
    if (failed) return answer(context, 500, `${lines.join("\n")}\n${endpoint} check failed\n`);
    if (!context.info.query.has("verbose")) return answer(context, 200, "ok");
    answer(context, 200, `${lines.join("\n")}\nhealthz check passed\n`);
  };
}

async function answerOne(context: RequestContext, checks: readonly HealthCheck[], name: string): Promise<void> {
  const found = checks.find((one) => one.name === name);
  if (found === undefined) return answer(context, 404, "404 page not found\n");
  if ((await outcome(found)) === undefined) return answer(context, 200, "ok");
  answer(context, 500, "internal server error: reason withheld\n");
}

/** A check that throws has failed. */
async function outcome({ check }: HealthCheck): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function answer(context: RequestContext, status: number, text: string): void {
  const headers: AnswerHeaders = {
    "audit-id": context.auditId,
    "cache-control": "no-cache, private",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  };
  context.exchange.respond(status, headers, Buffer.from(text));
}
