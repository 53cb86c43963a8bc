/** Clients that send random requests for few objects to random servers. */

import { peerLatency } from "../../support/peer-latency.ts";
import type { RawClient } from "../../support/raw-client.ts";
import type { Answer, Operation, Seen, Verb } from "./history.ts";

export const namespace = "linear";
export const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

/** A server, whose client changes when it restarts. */
export interface Replica {
  /** Undefined while it is down. */
  readonly client: RawClient | undefined;
}

export interface ClientsOptions {
  readonly replicas: readonly Replica[];
  readonly random: (below: number) => number;
  readonly keys: readonly string[];
  readonly clients: number;
  readonly operations: number;
  /** The number of the first one; 0 by default. */
  readonly firstId?: number;
  /** The order of beginnings and ends. */
  readonly tick: () => number;
  /** Waits before a request, when so many have been sent; not at all by default. */
  pace?(sent: number): Promise<unknown>;
  record(operation: Operation): void;
}

interface Request {
  readonly verb: Verb;
  readonly key: string;
  readonly by: string;
  readonly resourceVersion: string;
}

/** Parts of a hundred. */
const mix: readonly (readonly [verb: Verb, share: number])[] = [
  ["create", 18],
  ["update", 16],
  ["replace", 12],
  ["patch", 12],
  ["delete", 10],
  ["get", 16],
  ["list", 16],
];

/** Chooses one of several values by their shares. */
export function weighted<Value>(
  choices: readonly (readonly [value: Value, share: number])[],
  random: (below: number) => number,
): Value {
  let at = random(choices.reduce((sum, [, share]) => sum + share, 0));
  for (const [value, share] of choices) {
    at -= share;
    if (at < 0) return value;
  }
  throw new Error("there is nothing to choose from");
}

/** Sends all requests; resolves when all are answered. */
export async function runClients(options: ClientsOptions): Promise<void> {
  const { random, clients, operations, firstId = 0 } = options;
  /** What clients know of each object. */
  const known = new Map<string, string>();
  let newest = 0;
  let sent = 0;
  const runOne = async (): Promise<void> => {
    for (;;) {
      await options.pace?.(sent);
      if (sent >= operations) return;
      const id = firstId + sent++;
      const request = plan(options, known, { id, newest });
      const { client } = options.replicas[random(options.replicas.length)] as Replica;
      if (client === undefined) {
        sent--;
        await peerLatency(20);
        continue;
      }
      const start = options.tick();
      const answer = await send(client, request);
      options.record({ ...request, start, end: options.tick(), answer });
      if (answer.kind === "object") known.set(request.key, String(answer.object.revision));
      if (answer.kind === "object") newest = Math.max(newest, answer.object.revision);
    }
  };
  await Promise.all(Array.from({ length: clients }, runOne));
}

function plan(
  { random, keys }: Pick<ClientsOptions, "random" | "keys">,
  known: ReadonlyMap<string, string>,
  { id, newest }: { readonly id: number; readonly newest: number },
): Request {
  const key = keys[random(keys.length)] as string;
  const verb = weighted(mix, random);
  const by = `w${id}`;
  if (verb === "list" || verb === "get") {
    const versions = ["", "", "", "0", String(newest)];
    return { verb, key: verb === "get" ? key : "", by: "", resourceVersion: versions[random(5)] as string };
  }
  const expected = known.get(key);
  if (verb === "update") {
    if (expected === undefined) return { verb: "replace", key, by, resourceVersion: "" };
    return { verb, key, by, resourceVersion: expected };
  }
  return { verb, key, by: verb === "delete" ? "" : by, resourceVersion: "" };
}

async function send(client: RawClient, { verb, key, by, resourceVersion }: Request): Promise<Answer> {
  const path = key === "" || verb === "create" ? configMaps : `${configMaps}/${key}`;
  const query =
    (verb === "get" || verb === "list") && resourceVersion !== "" ? `?resourceVersion=${resourceVersion}` : "";
  const body = bodyOf({ verb, key, by, resourceVersion });
  const contentType = verb === "patch" ? "application/merge-patch+json" : "application/json";
  try {
    const { status, body: answer } = await client.send({
      method: methods[verb],
      path: path + query,
      headers: { "content-type": contentType },
      ...(body !== undefined && { body }),
    });
    return answerOf(verb, status, answer);
  } catch {
    return { kind: "unknown" }; // The connection was lost.
  }
}

const methods: Readonly<Record<Verb, string>> = {
  create: "POST",
  update: "PUT",
  replace: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  get: "GET",
  list: "GET",
};

function bodyOf({ verb, key, by, resourceVersion }: Request): object | undefined {
  if (verb === "get" || verb === "list" || verb === "delete") return undefined;
  if (verb === "patch") return { data: { by } };
  return {
    metadata: { name: key, ...(verb === "update" && { resourceVersion }) },
    data: { by, value: by },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer.
function answerOf(verb: Verb, status: number, body: any): Answer {
  if (status === 429 || status >= 500) return { kind: "unknown" };
  if (status >= 400) return { kind: "rejected", reason: body.reason };
  if (verb === "delete") return { kind: "deleted", uid: body.details.uid };
  if (verb !== "list") return { kind: "object", object: seenOf(body) };
  return { kind: "list", revision: Number(body.metadata.resourceVersion), objects: body.items.map(seenOf) };
}

// biome-ignore lint/suspicious/noExplicitAny: an object of an answer.
export function seenOf({ metadata, data }: any): Seen {
  return { key: metadata.name, revision: Number(metadata.resourceVersion), by: data?.by ?? "" };
}
