/** Observers that keep a view by list and watch, are cut off at random, and resume. */
import type { WatchEvent } from "../../support/http2-client.ts";
import type { CuttableWatch, WatchConnection } from "../../support/watch-connection.ts";
import { list } from "./readers.ts";
import { type Collection, type View, views } from "./views.ts";
import { eventTypes, type Segment, type World } from "./world.ts";

/**
 * Queries of watches without a resourceVersion. With bookmarks, a bookmark ends the initial events.
 */
const beginnings = [
  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
  "",
  "&resourceVersion=0",
];

interface Stop {
  /** Cut the watch after this number of events. */
  readonly events: number;
  /** Cut the watch after this number of operations of all actors. */
  readonly operations: number;
  /** End when a bookmark has this revision or a later one. */
  seen: number;
}

export async function inform(world: World, actor: number, index: number): Promise<void> {
  const random = world.random(actor);
  const view = views[index % views.length] as View;
  let from: number | undefined;
  while (!world.over) {
    const connection = world.connections[random(world.connections.length)] as WatchConnection;
    if (from === undefined && view.list !== undefined && random(2) === 0) from = await list(world, random, actor, view);
    const stop = {
      events: 1 + random(random(3) === 0 ? 400 : 40),
      operations: 1 + random(random(3) === 0 ? 2000 : 200),
      seen: Number.POSITIVE_INFINITY,
    };
    const bookmarks = from === undefined || random(3) > 0 ? "&allowWatchBookmarks=true" : "";
    const timeout = random(5) === 0 ? `&timeoutSeconds=${1 + random(100)}` : "";
    const begin = from === undefined ? (beginnings[random(beginnings.length)] as string) : `&resourceVersion=${from}`;
    from = await follow(world, {
      view,
      connection,
      from,
      query: begin + bookmarks + timeout,
      stop,
      pauses: random(4) === 0,
    });
    if (random(40) === 0) connection.break();
    if (random(2) === 0) await world.operationsLater(random(8) === 0 ? 1500 : random(60));
  }
  await finish(world, view, world.connections[index % world.connections.length] as WatchConnection, from);
}

/** Watches until a bookmark shows that the last change has arrived. */
async function finish(world: World, view: View, connection: WatchConnection, begin: number | undefined): Promise<void> {
  let from = begin;
  const stop = {
    events: Number.POSITIVE_INFINITY,
    operations: Number.POSITIVE_INFINITY,
    seen: await world.final.promise,
  };
  for (;;) {
    const query = from === undefined ? (beginnings[0] as string) : `&resourceVersion=${from}`;
    from = await follow(world, {
      view,
      connection,
      from,
      query: `${query}&allowWatchBookmarks=true`,
      stop,
      pauses: false,
    });
    if (from !== undefined && from >= stop.seen) return;
  }
}

interface Follow {
  readonly view: View;
  readonly connection: WatchConnection;
  readonly from: number | undefined;
  readonly query: string;
  readonly stop: Stop;
  /** Whether the client stops reading for a while. */
  readonly pauses: boolean;
}

/** @returns the revision to resume at; undefined if there is none */
function follow(world: World, { view, connection, from, query, stop, pauses }: Follow): Promise<number | undefined> {
  const path = `${view.watch}?watch=1${query}${view.query}`;
  const segment: Segment = {
    view,
    from,
    initialEnd: from === undefined ? Number.POSITIVE_INFINITY : undefined,
    events: [],
  };
  world.segments.push(segment);
  return new Promise((resolve) => {
    let watch: CuttableWatch | undefined;
    let last = from;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      watch?.cut();
      resolve(segment.initialEnd === Number.POSITIVE_INFINITY ? undefined : last);
    };
    const gone = (message: string): void => {
      world.recordCompacted(`${path}: ${message}`, from ?? 0);
      if (from === undefined) world.problem(`${path}: ${message}`);
      last = undefined;
      finish();
    };
    const event = ({ type, object }: WatchEvent): void => {
      if (isOver) return;
      if (type === "ERROR") {
        if (object.code !== 410) world.problem(`${path}: ${JSON.stringify(object)}`);
        return gone(object.message);
      }
      const revision = takeEvent(world, segment, path, type, object);
      if (revision === undefined) return;
      if (segment.initialEnd !== Number.POSITIVE_INFINITY) last = revision;
      if (type === "BOOKMARK" && revision >= stop.seen) finish();
      if (segment.events.length >= stop.events) finish();
    };
    watch = connection.open(path, {
      event,
      end(error) {
        if (error?.status === 410) return gone(error.message);
        if (error !== undefined) world.problem(`${path}: ${error.status} ${error.message}`);
        world.note("watches ended by the server");
        finish();
      },
    });
    if (stop.operations === Number.POSITIVE_INFINITY) return;
    if (pauses) {
      watch.pause();
      void world.operationsLater(stop.operations >> 1).then(() => watch?.resume());
    }
    void world.operationsLater(stop.operations).then(() => {
      if (isOver) return;
      world.count("cuts");
      finish();
    });
  });
}

function takeEvent(
  world: World,
  segment: Segment,
  path: string,
  type: string,
  object: WatchEvent["object"],
): number | undefined {
  const { collection } = segment.view;
  const number = eventTypes.indexOf(type as "ADDED");
  let revision: number | undefined;
  if (type === "BOOKMARK") {
    revision = Number(object.metadata.resourceVersion);
    world.note("bookmarks");
    const isEnd = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
    if (isEnd !== (segment.initialEnd === Number.POSITIVE_INFINITY))
      world.problem(`${path}: ${isEnd ? "a second end" : "a bookmark before the end"} of initial events`);
    if (isEnd) segment.initialEnd = segment.events.length;
  } else {
    world.note("events");
    revision = (type === "DELETED" ? world.seeRemoval(collection, path, object) : world.see(collection, path, object))
      ?.revision;
  }
  if (revision !== undefined) segment.events.push(revision * 4 + number);
  return revision;
}

/**
 * The watch of a collection that is never cut: its events are the log with which all observations
 * are compared.
 */
export async function keepLog(world: World, collection: Collection, connection: WatchConnection): Promise<Segment> {
  const view = views.find((one) => one.collection === collection && one.query === "") as View;
  const stop = {
    events: Number.POSITIVE_INFINITY,
    operations: Number.POSITIVE_INFINITY,
    seen: Number.POSITIVE_INFINITY,
  };
  void world.final.promise.then((final) => {
    stop.seen = final;
  });
  const query = `&resourceVersion=${world.start}&timeoutSeconds=2000000&allowWatchBookmarks=true`;
  const end = await follow(world, { view, connection, from: world.start, query, stop, pauses: false });
  if (end === undefined || end < stop.seen) world.problem(`the log of ${collection} ended at ${end}`);
  return world.segments.find((segment) => segment.view === view && segment.from === world.start) as Segment;
}
