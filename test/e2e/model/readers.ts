/**
 * Readers that get and list: at any revision, at exact ones, in chunks while other clients write.
 */
import { type Answered, type Collection, nameCount, namespaces, type View, views } from "./views.ts";
import type { Known, World } from "./world.ts";

type Random = (below: number) => number;

/** How far back requested revisions are; a part of them has been compacted. */
const pastMax = 2500;

const listable = views.filter(({ list }) => list !== undefined);

export async function read(world: World, actor: number): Promise<void> {
  const random = world.random(actor);
  while (!world.over) {
    if (random(4) === 0) await get(world, random, actor);
    else await list(world, random, actor, listable[random(listable.length)] as View);
  }
}

async function get(world: World, random: Random, actor: number): Promise<void> {
  const collection: Collection = random(2) === 0 ? "configmaps" : "pods";
  const namespace = namespaces[random(namespaces.length)] as string;
  const name = `n${random(nameCount)}`;
  const revision = past(world, random);
  const [query, known] = [
    ["", world.known()],
    ["?resourceVersion=0", { revision: 0, deletions: 0 }],
    [`?resourceVersion=${revision}`, { revision, deletions: 0 }],
  ][random(3)] as [string, Known];
  const line = `GET /api/v1/namespaces/${namespace}/${collection}/${name}${query}`;
  const { status, body } = await world.client(actor).send(line);
  world.count("gets");
  if (status !== 200 && status !== 404) return world.problem(`${line}: ${status} ${JSON.stringify(body)}`);
  const found = status === 200 ? (world.see(collection, line, body)?.revision ?? 0) : 0;
  world.got.push({ collection, key: `${namespace}/${name}`, revision: found, known });
}

/** The query of a list, and what its revision must be. */
interface ListMode {
  readonly query: string;
  readonly exact?: number;
  readonly known?: Known;
}

/**
 * Lists a view in a random mode.
 * @returns the revision of the list; undefined if the request failed
 */
export async function list(world: World, random: Random, actor: number, view: View): Promise<number | undefined> {
  const revision = past(world, random);
  const limit = 1 + random(12);
  const modes: readonly ListMode[] = [
    { query: "", known: world.known() },
    { query: `&limit=${limit}`, known: world.known() },
    { query: "&resourceVersion=0" },
    { query: `&resourceVersion=0&limit=${limit}` },
    { query: "&resourceVersion=0&resourceVersionMatch=NotOlderThan" },
    { query: `&resourceVersion=${revision}`, known: { revision, deletions: 0 } },
    { query: `&resourceVersion=${revision}&resourceVersionMatch=NotOlderThan`, known: { revision, deletions: 0 } },
    {
      query: `&resourceVersion=${revision}&resourceVersionMatch=NotOlderThan&limit=${limit}`,
      known: { revision, deletions: 0 },
    },
    { query: `&resourceVersion=${revision}&resourceVersionMatch=Exact`, exact: revision },
    { query: `&resourceVersion=${revision}&resourceVersionMatch=Exact&limit=${limit}`, exact: revision },
    { query: `&resourceVersion=${revision}&limit=${limit}`, exact: revision },
  ];
  const mode = modes[random(20) === 0 ? modes.length : random(modes.length)];
  if (mode === undefined) return listFuture(world, random, actor, view);
  return listChunks(world, random, actor, view, mode);
}

interface Page {
  readonly keys: readonly string[];
  /**
   * Key of the last object, also if it is not the model's; the rest of the list begins after it.
   */
  readonly last: string | undefined;
  readonly count: number;
  readonly remaining: number | undefined;
}

async function listChunks(
  world: World,
  random: Random,
  actor: number,
  view: View,
  { query, exact, known }: ListMode,
): Promise<number | undefined> {
  const first = `GET ${view.list}?${(query + view.query).slice(1)}`;
  const limit = /limit=\d+/.exec(query)?.[0] ?? "";
  let line = first;
  let items: string[] = [];
  let pages: Page[] = [];
  let after = "";
  let version: number | undefined;
  let least = known;
  for (;;) {
    const { status, body } = await world.client(actor).send(line);
    world.count("lists");
    if (status === 410) {
      const gone = version ?? exact ?? 0;
      world.recordCompacted(`${line}: ${body.message}`, gone);
      if (gone === 0) world.problem(`${line}: ${body.message}`);
      const next: string | undefined = body.metadata.continue;
      if ((next !== undefined) !== line.includes("continue="))
        world.problem(`${line}: 410 ${next === undefined ? "without" : "with"} a token`);
      if (next === undefined) return undefined;
      // The rest at the newest revision is checked as a separate list.
      finish(world, view, { what: line, version: gone, least, after, items, pages: [], isWhole: false });
      after = pages.findLast(({ last }) => last !== undefined)?.last ?? after;
      [items, pages, version, least] = [[], [], undefined, world.known()];
      line = `GET ${view.list}?${limit}&continue=${encodeURIComponent(next)}${view.query}`;
      continue;
    }
    if (status !== 200) {
      world.problem(`${line}: ${status} ${JSON.stringify(body)}`);
      return undefined;
    }
    const page = take(world, view, line, body);
    const revision = Number(body.metadata.resourceVersion);
    if (exact !== undefined && line === first && revision !== exact) world.problem(`${line}: at ${revision}`);
    if (version !== undefined && revision !== version)
      world.problem(`${line}: a chunk at ${revision} of a list at ${version}`);
    version = revision;
    items.push(...page.keys);
    pages.push(page);
    const next: string | undefined = body.metadata.continue;
    if (next === undefined) break;
    line = `GET ${view.list}?${limit}&continue=${encodeURIComponent(next)}${view.query}`;
    if (random(3) === 0) await world.operationsLater(random(40) === 0 ? 2000 : random(30));
  }
  finish(world, view, { what: first, version, least, after, items, pages, isWhole: true });
  return version;
}

function take(world: World, view: View, line: string, body: Answered): Page {
  const keys: string[] = [];
  for (const item of body.items) {
    const seen = world.see(view.collection, line, item);
    if (seen !== undefined) keys.push(`${seen.key}@${seen.revision}`);
  }
  if (view.query !== "" && body.metadata.remainingItemCount !== undefined)
    world.problem(`${line}: has a remainingItemCount with a selector`);
  const last = body.items.at(-1)?.metadata;
  return {
    keys,
    last: last && `${last.namespace}/${last.name}`,
    count: body.items.length,
    remaining: body.metadata.remainingItemCount,
  };
}

interface Chunks {
  readonly what: string;
  readonly version: number;
  readonly least: Known | undefined;
  readonly after: string;
  readonly items: readonly string[];
  readonly pages: readonly Page[];
  /** Whether the list is complete to its end. */
  readonly isWhole: boolean;
}

function finish(world: World, view: View, { what, version, least, after, items, pages, isWhole }: Chunks): void {
  world.note(pages.length > 1 ? "chunked lists" : "whole lists");
  world.listed.push({
    what,
    view,
    revision: version,
    known: least,
    after,
    until: isWhole ? undefined : (lastKey(items) ?? after),
    items,
  });
  let rest = 0;
  for (const { count, remaining } of [...pages].reverse()) {
    if (view.query === "" && isWhole && (remaining ?? 0) !== rest)
      world.problem(`${what}: ${remaining} reported to remain, but ${rest} followed`);
    rest += count;
  }
}

function lastKey(items: readonly string[]): string | undefined {
  return items.at(-1)?.split("@")[0];
}

/**
 * Lists at a future revision, which the server does not reach because the clock does not advance.
 */
async function listFuture(world: World, random: Random, actor: number, view: View): Promise<undefined> {
  const match = ["", "&resourceVersionMatch=Exact", "&resourceVersionMatch=NotOlderThan"][random(3)];
  const line = `GET ${view.list}?resourceVersion=${world.answered + 1_000_000}${match}${view.query}`;
  const { status, body } = await world.client(actor).send(line);
  world.count("lists of the future");
  // An exact list of one name is read from the store, which does not wait for the revision.
  const isStored = match === "&resourceVersionMatch=Exact" && view.query.includes("metadata.name%3D");
  const isTooLarge =
    status === 504 &&
    body.details?.causes?.[0]?.reason === "ResourceVersionTooLarge" &&
    body.details.retryAfterSeconds === (isStored ? undefined : 1);
  if (!isTooLarge) world.problem(`${line}: ${status} ${JSON.stringify(body)}`);
}

/** A past revision; recent ones more often. */
function past(world: World, random: Random): number {
  const back = random(random(2) === 0 ? 50 : pastMax);
  return Math.max(world.start, world.answered - back);
}
