/**
 * Which authorizers decided, told by what the server counts: reviews do not say it. The question is asked a few times more, and those whose counts have
 * grown by as many may have decided it; others ask the server at the same time, so that there may be several.
 */
import type { Sender } from "./server.ts";

export interface Decider {
  /** `ABAC`, `Node`, `Webhook` … */
  readonly type: string;
  /** Of a webhook, the one that its configuration gives it. */
  readonly name: string;
}

const timesAsked = 3;

/** @param ask the question @returns none when the server does not show its counts to us */
export async function countedDeciders(
  server: Sender,
  decision: "allowed" | "denied",
  ask: () => Promise<unknown>,
): Promise<Decider[]> {
  const before = await readCounts(server, decision);
  if (before === undefined) return [];
  for (let times = 0; times < timesAsked; times++) await ask();
  const after = await readCounts(server, decision);
  if (after === undefined) return [];
  return [...after.values()]
    .filter(({ key, count }) => count - (before.get(key)?.count ?? 0) >= timesAsked)
    .map(({ type, name }) => ({ type, name }));
}

interface Count extends Decider {
  readonly key: string;
  readonly count: number;
}

/** Of RBAC, which gives its reasons, nothing is counted here. */
async function readCounts(server: Sender, decision: string): Promise<Map<string, Count> | undefined> {
  const { status, body } = await server.send({ method: "GET", path: "/metrics", headers: { accept: "text/plain" } });
  if (status !== 200) return undefined;
  const counts = new Map<string, Count>();
  for (const line of body.toString().split("\n")) {
    const [, labels, value] = /^apiserver_authorization_decisions_total\{([^}]*)\} (\S+)$/.exec(line) ?? [];
    if (labels === undefined) continue;
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const [type, name] = [label("type"), label("name")];
    if (label("decision") === decision && type !== "RBAC")
      counts.set(`${type}/${name}`, { key: `${type}/${name}`, type, name, count: Number(value) });
  }
  return counts;
}
