/** Keeps a collection by list and watch, as an informer does, and checks every event against what it has. */
import type { Http2Client, WatchEvent } from "./http2-client.ts";

export interface Follower {
  /** How it began and what it selects. */
  readonly what: string;
  /** Resolves when an object with the label `last` came, or something went wrong. */
  readonly done: Promise<void>;
  readonly problems: readonly string[];
  /** Name → resourceVersion of what it selects. */
  readonly state: ReadonlyMap<string, string>;
  selects(object: ListedObject): boolean;
  close(): void;
}

export interface ListedObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly labels?: Readonly<Record<string, string>> };
}

type Selects = Follower["selects"];

const selections: readonly [query: string, selects: Selects][] = [
  ["", () => true],
  ["&labelSelector=x%3D1", ({ metadata }) => metadata.labels?.x === "1"],
  ["&labelSelector=x!%3D1", ({ metadata }) => metadata.labels?.x !== "1"],
  ["&labelSelector=y", ({ metadata }) => metadata.labels?.y !== undefined],
  ["&fieldSelector=metadata.name%3Dn3", ({ metadata }) => metadata.name === "n3"],
  ["&fieldSelector=metadata.name!%3Dn3", ({ metadata }) => metadata.name !== "n3"],
];

const chunk = 7;

/** The ways to learn what is there before the watch. The last one lets the watch tell. */
const beginnings = ["list", `list in chunks of ${chunk}`, "list of any version", "initial events"] as const;

/** Every way there is; a follower is told by its number which one it takes. */
export const followerKinds: number = beginnings.length * selections.length;

/** @param path of the collection @param kind below {@link followerKinds} */
export async function followCollection(client: Http2Client, path: string, kind: number): Promise<Follower> {
  const beginning = beginnings[kind % beginnings.length] as (typeof beginnings)[number];
  const [query, selects] = selections[Math.floor(kind / beginnings.length) % selections.length] as (typeof selections)[number];
  const state = new Map<string, string>();
  const problems: string[] = [];
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  let inOrder = true;
  let last = 0;

  const problem = (text: string): void => {
    problems.push(text);
    finish();
  };
  const onEvent = ({ type, object }: WatchEvent): void => {
    if (type === "ERROR") return problem(`ERROR ${object.message}`);
    const { name, resourceVersion, labels, annotations } = object.metadata;
    if (inOrder && type !== "BOOKMARK" && Number(resourceVersion) <= last) problem(`${type} ${name} at ${resourceVersion} after ${last}`);
    last = Math.max(last, Number(resourceVersion));
    if (type === "BOOKMARK") {
      if (annotations?.["k8s.io/initial-events-end"] === "true") inOrder = true;
      return;
    }
    if (state.has(name) !== (type !== "ADDED"))
      problem(`${type} ${name} at ${resourceVersion}, which was ${type === "ADDED" ? "there" : "not there"}`);
    if (type === "DELETED") state.delete(name);
    else state.set(name, resourceVersion);
    if (type !== "DELETED" && !selects(object)) problem(`${type} ${name}, which is not selected`);
    if (type !== "DELETED" && labels?.last !== undefined) finish();
  };

  let from = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  if (beginning === "initial events")
    inOrder = false; // They come by name.
  else {
    const { items, resourceVersion } = await list(
      client,
      `${path}?${beginning === "list of any version" ? "resourceVersion=0" : ""}${query}`,
      beginning,
    );
    for (const { metadata } of items) state.set(metadata.name, metadata.resourceVersion);
    last = Number(resourceVersion);
    from = `&resourceVersion=${resourceVersion}`;
  }
  const close = client.watch(`${path}?watch=1&allowWatchBookmarks=true${from}${query}`, onEvent);
  return { what: `${beginning} ${query}`, done, problems, state, selects, close };
}

async function list(client: Http2Client, path: string, beginning: string): Promise<{ items: ListedObject[]; resourceVersion: string }> {
  const limit = beginning.includes("chunks") ? `&limit=${chunk}` : "";
  const items: ListedObject[] = [];
  let next: string | undefined = "";
  let resourceVersion = "";
  while (next !== undefined) {
    const { status, body } = await client.send(`GET ${path}${limit}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`);
    if (status !== 200) throw new Error(body.message);
    items.push(...body.items);
    ({ continue: next, resourceVersion } = body.metadata);
  }
  return { items, resourceVersion };
}
