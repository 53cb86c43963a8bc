/** Finds controllers that write again and again. */
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import type { TestServer } from "./contract.ts";
import type { TimelineRequest } from "./timeline/contract.ts";

/** Options of {@link noFurtherWrites}. */
export interface NoFurtherWritesOptions {
  /** How long no write may arrive, in milliseconds; 500 by default. */
  readonly forMs?: number;
  /** How long it waits for such a time, in milliseconds; ten times `forMs` by default. */
  readonly timeoutMs?: number;
  /** Writes that count; all by default. */
  readonly where?: (request: TimelineRequest) => boolean;
  /** Measures the time; that of the system by default. Pass the clock of the server if the test advances it. */
  readonly clock?: Pick<Clock, "after">;
}

/**
 * Waits until no client has written for some time: a controller that has reached the desired state is quiet.
 *
 * Rejected writes count, too. Dry runs, reviews of tokens and permissions, and renewals of Leases do not.
 *
 * @throws Error that names each writer, its request, and how often it came, when the writes do not end
 */
export async function noFurtherWrites(
  server: Pick<TestServer, "timeline">,
  { forMs = 500, timeoutMs = 10 * forMs, where = () => true, clock = systemClock }: NoFurtherWritesOptions = {},
): Promise<void> {
  for (let waitedMs = forMs; ; waitedMs += forMs) {
    const since = server.timeline.mark();
    await elapsed(clock, forMs);
    const requests = server.timeline.entries({ since }).filter((entry) => entry.kind === "request");
    const writes = requests.filter((request) => isWrite(request) && where(request));
    if (writes.length === 0) return;
    if (waitedMs >= timeoutMs) throw new Error(describe(writes, forMs));
  }
}

function describe(writes: readonly TimelineRequest[], forMs: number): string {
  const counts = new Map<string, number>();
  for (const line of writes.map(titleOf)) counts.set(line, (counts.get(line) ?? 0) + 1);
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([line, count]) => `\n  ${count} × ${line}`);
  const more = lines.length > linesMax ? `\n  and ${lines.length - linesMax} other requests` : "";
  return `${writes.length} writes in ${forMs} ms:${lines.slice(0, linesMax).join("")}${more}`;
}

/** Different requests in the message. */
const linesMax = 10;
/** Node.js would not wait for the timer of a clock, which does not keep the process alive. */
const aliveMs = 1000;

async function elapsed(clock: Pick<Clock, "after">, forMs: number): Promise<void> {
  const alive = setInterval(() => {}, aliveMs);
  await new Promise<void>((resolve) => clock.after(forMs, resolve));
  clearInterval(alive);
}

const writing: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);
const reviewing: ReadonlySet<string> = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

function isWrite({ verb, group, resource, dryRun }: TimelineRequest): boolean {
  const isRenewal = group === "coordination.k8s.io" && resource === "leases" && verb !== "delete";
  return writing.has(verb) && !dryRun && !reviewing.has(group) && !isRenewal;
}

function titleOf({ verb, resource, subresource, namespace, name, code, user, userAgent }: TimelineRequest): string {
  const object = [resource, subresource].filter((part) => part !== "").join("/");
  const place = namespace === "" ? "" : ` in ${JSON.stringify(namespace)}`;
  return `${verb} ${object}${name === "" ? "" : ` ${JSON.stringify(name)}`}${place} (${code}) by ${user} with ${JSON.stringify(userAgent)}`;
}
