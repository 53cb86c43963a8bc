/**
 * An informer by the rules of client-go's reflector: it lists, watches from the list's version, watches
 * again from the last one that it has received, and lists again after 410 and 504.
 */
import https from "node:https";
import { peerLatency } from "../../support/peer-latency.ts";
import { configMaps, type Replica, seenOf } from "./clients.ts";
import type { Delivered, Seen } from "./history.ts";

export interface InformerOptions {
  readonly name: string;
  readonly replicas: readonly (Replica & { readonly watch: WatchTarget | undefined })[];
  readonly random: (below: number) => number;
}

/** Where watches connect to. */
export interface WatchTarget {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Informer {
  /** A part for each list. */
  readonly delivered: readonly Delivered[];
  readonly store: ReadonlyMap<string, Seen>;
  /** The last version that it received. */
  readonly revision: number;
  /** What it does, for messages. */
  readonly state: string;
  stop(): void;
}

const retryMs = 50;
/** A watch ends after this time, so that informers also start watches. */
const watchSeconds = 20;

export function startInformer({ name, replicas, random }: InformerOptions): Informer {
  const delivered: Delivered[] = [];
  let store = new Map<string, Seen>();
  let revision = 0;
  let stopped = false;
  /** The version to list at; empty after the server did not have the last one. */
  let listAt: string | undefined = "0";
  let current: Delivered | undefined;
  let close = (): void => {};

  const list = async (replica: Replica): Promise<void> => {
    if (replica.client === undefined) return;
    const { status, body } = await replica.client.send({ path: `${configMaps}?resourceVersion=${listAt}` });
    if (status === 410 || status === 504) listAt = "";
    if (status !== 200) return;
    revision = Number(body.metadata.resourceVersion);
    const listed: Seen[] = body.items.map(seenOf);
    current = { informer: name, from: revision, listed, events: [] };
    delivered.push(current);
    store = new Map(listed.map((one) => [one.key, one]));
    listAt = undefined;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the object of an event.
  const receive = ({ type, object }: { type: string; object: any }): void => {
    if (type === "ERROR") {
      listAt = object.code === 410 ? String(revision) : listAt;
      return;
    }
    revision = Number(object.metadata.resourceVersion);
    if (type === "BOOKMARK") return;
    const seen = seenOf(object);
    current?.events.push({ type, ...seen });
    if (type === "DELETED") store.delete(seen.key);
    else store.set(seen.key, seen);
  };
  const watch = async (target: WatchTarget): Promise<void> => {
    const opened = openWatch(target, revision, receive);
    close = opened.close;
    if ([410, 504].includes((await opened.ended) ?? 0)) listAt = String(revision);
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const replica = replicas[random(replicas.length)] as InformerOptions["replicas"][number];
      if (listAt !== undefined) await list(replica).catch(() => {});
      else if (replica.watch !== undefined) await watch(replica.watch);
      await peerLatency(retryMs);
    }
  };
  void run();
  return {
    delivered,
    get store() {
      return store;
    },
    get revision() {
      return revision;
    },
    get state() {
      return `${listAt === undefined ? "watches" : `lists at "${listAt}"`}, has ${revision}`;
    },
    stop() {
      stopped = true;
      close();
    },
  };
}

/** @returns when the watch ends, the status of its answer; undefined if there was none */
function openWatch(
  { port, ca, cert, key }: WatchTarget,
  from: number,
  // biome-ignore lint/suspicious/noExplicitAny: the object of an event.
  receive: (event: { type: string; object: any }) => void,
): { readonly ended: Promise<number | undefined>; close(): void } {
  const path = `${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${from}`;
  const request = https.get({ host: "127.0.0.1", port, ca, cert, key, agent: false, path });
  const ended = new Promise<number | undefined>((resolve) => {
    let status: number | undefined;
    request.on("error", () => resolve(status));
    request.on("close", () => resolve(status));
    request.on("response", (response) => {
      status = response.statusCode;
      if (status !== 200) return request.destroy();
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) receive(JSON.parse(line));
      });
      response.on("error", () => request.destroy());
    });
  });
  return { ended, close: () => request.destroy() };
}
