/**
 * CPU time of the server for one page of a list, with few and with many objects, as a ratio to a
 * get in the same run.
 */
import type { Child } from "../child.ts";
import type { BenchClient, BenchRequest } from "../client.ts";

const all = "/api/v1/configmaps";
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1,application/json" };
const protobuf = { accept: "application/vnd.kubernetes.protobuf" };
const rounds = 5;
/** Number of continued pages that are read in turn. */
const tokensMax = 40;

type Row = [what: string, requests: number, request: (index: number) => BenchRequest, goal: number];

/** CPU milliseconds per request, by kind of request. */
export type PageCosts = ReadonlyMap<string, number>;

/**
 * @param objects that exist, named `cm-000000` and so on, in ten namespaces
 * @param pageObjects the limit of a page, of which there are two at least
 */
export async function pageCosts(
  child: Child,
  client: BenchClient,
  objects: number,
  pageObjects: number,
): Promise<PageCosts> {
  const { version, tokens } = await readTokens(client, pageObjects);
  const costs = new Map<string, number>();
  for (const [what, requests, request] of rowsOf({ objects, pageObjects, version, tokens })) {
    await client.run(requests, 1, request, 200);
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const before = await child.usage();
      await client.run(requests, 1, request, 200);
      least = Math.min(least, ((await child.usage()).cpuMs - before.cpuMs) / requests);
    }
    costs.set(what, least);
  }
  return costs;
}

export function showPageCosts(
  few: PageCosts,
  many: PageCosts,
  show: (what: string, measured: string, goal: string) => void,
): void {
  const get = many.get("get") as number;
  for (const [what, , , goal] of rowsOf({ objects: 1, pageObjects: 1, version: "", tokens: [] })) {
    const [before, after] = [few.get(what) as number, many.get(what) as number];
    const ratio = (after / before).toFixed(2);
    show(
      `  ${what}`,
      `${before.toFixed(2)} ms, then ${after.toFixed(2)} ms: ${ratio} ×; ${(after / get).toFixed(1)} gets`,
      `${goal} ×`,
    );
  }
}

interface State {
  readonly objects: number;
  readonly pageObjects: number;
  readonly version: string;
  readonly tokens: readonly string[];
}

/**
 * The cache of encoded objects has some ten thousand entries; with more objects, continued pages
 * are encoded each time.
 */
function rowsOf({ objects, pageObjects, version, tokens }: State): Row[] {
  const page = (query: string, headers: Readonly<Record<string, string>> = {}, path = all) => ({
    method: "GET",
    path: `${path}?${query}`,
    headers,
  });
  const first = `limit=${pageObjects}`;
  const next = (index: number): string => `${first}&continue=${tokens[index % tokens.length]}`;
  const oneOf = (index: number): string => {
    const at = (index * 7919) % objects;
    return `/api/v1/namespaces/bench-${at % 10}/configmaps/cm-${String(at).padStart(6, "0")}`;
  };
  return [
    ["get", 500, (index) => ({ method: "GET", path: oneOf(index) }), 1.5],
    ["limit=1", 200, () => page("limit=1"), 1.5],
    ["first page", 40, () => page(first), 1.5],
    ["first page, Table", 40, () => page(first, table), 1.5],
    ["first page, protobuf", 40, () => page(first, protobuf), 1.5],
    ["first page of one namespace", 40, () => page(first, {}, "/api/v1/namespaces/bench-3/configmaps"), 1.5],
    ["first page, exact", 40, () => page(`${first}&resourceVersionMatch=Exact&resourceVersion=${version}`), 1.5],
    [
      "metadata.name in all namespaces",
      200,
      (index) => page(`fieldSelector=metadata.name%3D${oneOf(index).split("/").at(-1)}`),
      1.5,
    ],
    ["continued pages", 40, (index) => page(next(index)), 1.5],
    ["continued pages, Table", 200, (index) => page(next(index), table), 1.5],
    ["continued pages, protobuf", 40, (index) => page(next(index), protobuf), 10],
  ];
}

/** Reads the list once to collect the continue tokens of its pages. */
async function readTokens(client: BenchClient, pageObjects: number): Promise<Pick<State, "version" | "tokens">> {
  const tokens: string[] = [];
  let version = "";
  for (let token = ""; ; ) {
    const { body } = await client.send({
      method: "GET",
      path: `${all}?limit=${pageObjects}${token === "" ? "" : `&continue=${token}`}`,
    });
    const head = body.slice(0, 500);
    version = /"resourceVersion":"(\d+)"/.exec(head)?.[1] ?? "";
    token = /"continue":"([^"]*)"/.exec(head)?.[1] ?? "";
    if (token === "" || tokens.length === tokensMax) return { version, tokens };
    tokens.push(token);
  }
}
