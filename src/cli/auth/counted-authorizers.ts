/**
 * Finds the authorizer that decided from the server's metrics, because access reviews do not name
 * it. The review is repeated a few times: authorizers whose decision counts grew by at least as
 * much may have decided. Other clients query the server at the same time, so there can be several
 * candidates.
 */
import type { Sender } from "../client/ask.ts";

/** An authorizer as the label values of `apiserver_authorization_decisions_total` name it. */
export interface CountedAuthorizer {
  /** `ABAC`, `Node`, `Webhook` … */
  readonly type: string;
  /** For a webhook, its name in the AuthorizationConfiguration. */
  readonly name: string;
}

const repetitions = 3;

/**
 * @param review repeats the access review
 * @returns empty when the user is not allowed to read /metrics
 */
export async function countedAuthorizers(
  server: Sender,
  decision: "allowed" | "denied",
  review: () => Promise<unknown>,
): Promise<CountedAuthorizer[]> {
  const before = await readCounts(server, decision);
  if (before === undefined) return [];
  for (let times = 0; times < repetitions; times++) await review();
  const after = await readCounts(server, decision);
  if (after === undefined) return [];
  return [...after.values()]
    .filter(({ key, count }) => count - (before.get(key)?.count ?? 0) >= repetitions)
    .map(({ type, name }) => ({ type, name }));
}

interface Count extends CountedAuthorizer {
  readonly key: string;
  readonly count: number;
}

/** Leaves out RBAC, whose decisions are recognized by their reason. */
async function readCounts(server: Sender, decision: string): Promise<Map<string, Count> | undefined> {
  const { status, body } = await server.send({ method: "GET", path: "/metrics", headers: { accept: "text/plain" } });
  if (status !== 200) return undefined;
  const counts = new Map<string, Count>();
  for (const line of body.toString().split("\n")) {
    const [, labels, value] = /^apiserver_authorization_decisions_total\{([^}]*)\} (\S+)$/.exec(line) ?? [];
    if (labels === undefined) continue;
    const found = new Map([...labels.matchAll(/(?:^|,)(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]));
    const [type, name] = [found.get("type") ?? "", found.get("name") ?? ""];
    if (found.get("decision") === decision && type !== "RBAC")
      counts.set(`${type}/${name}`, { key: `${type}/${name}`, type, name, count: Number(value) });
  }
  return counts;
}
