/**
 * Every form of list of a large collection returns the same objects; with COXSWAIN_TEST_FULL=1
 * there are 100,000.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RunningServer, startServer } from "../../src/index.ts";
import { type Http2Client, http2Client } from "../support/http2-client.ts";
import { quietControllers } from "../support/start-test-server.ts";

const objects = process.env.COXSWAIN_TEST_FULL === "1" ? 100_000 : 1500;
const namespaces = 5;
const all = "/api/v1/configmaps";
const namespaced = (index: number): string => `/api/v1/namespaces/n${index % namespaces}/configmaps`;
const name = (index: number): string => `m${String(index).padStart(6, "0")}`;
const payload = "x".repeat(1024);

let server: RunningServer;
let client: Http2Client;
/** The key of every object that the test creates, sorted. */
let allKeys: string[];

before(async () => {
  server = await startServer({ storage: "memory", controllers: quietControllers });
  client = http2Client(server.kubeconfig);
  for (let index = 0; index < namespaces; index++)
    await client.send("POST /api/v1/namespaces", { metadata: { name: `n${index}` } });
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < objects; index = next++) {
      const { status } = await client.send(`POST ${namespaced(index)}`, {
        metadata: { name: name(index), labels: { l: `${index % 7}` } },
        data: { payload },
      });
      assert.equal(status, 201);
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
  allKeys = Array.from({ length: objects }, (_, index) => `n${index % namespaces}/${name(index)}`).sort();
});
after(async () => {
  client.close();
  await server.close();
});

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: { readonly l: string } };
}

async function list(query: string): Promise<Listed[]> {
  const { body } = await client.send(`GET ${all}${query}`);
  return body.items;
}

/** @returns `namespace/name` */
const keyOf = ({ metadata }: Pick<Listed, "metadata">): string => `${metadata.namespace}/${metadata.name}`;
/** Omits the objects that the server creates in kube-system. */
const keysOf = (items: readonly Listed[]): string[] =>
  items.filter(({ metadata }) => metadata.namespace !== "kube-system").map(keyOf);

const rows: [what: string, read: () => Promise<string[]>, want: () => string[]][] = [
  ["returns all objects in one list", async () => keysOf(await list("")), () => allKeys],
  ["returns all objects indented", async () => keysOf(await list("?pretty=true")), () => allKeys],
  ["returns the same objects in chunks, while other clients write", listInChunks, () => allKeys],
  [
    "returns the objects of one namespace",
    async () => (await client.send(`GET ${namespaced(3)}`)).body.items.map(keyOf),
    () => allKeys.filter((one) => one.startsWith("n3/")),
  ],
  [
    "returns the objects with a label",
    async () => (await list("?labelSelector=l%3D3")).map(keyOf),
    () => allKeys.filter((one) => Number(one.split("/m")[1]) % 7 === 3),
  ],
  [
    "returns the objects with a name",
    async () => (await list(`?fieldSelector=metadata.name%3D${name(9)}`)).map(keyOf),
    () => allKeys.filter((one) => one.endsWith(`/${name(9)}`)),
  ],
  ["returns all objects as a streaming list", streamList, () => allKeys],
];
for (const [what, read, want] of rows)
  test(`a large collection: ${what}`, async () => assert.deepEqual(await read(), want()));

/** No chunk contains the object that is created after the first chunk. */
async function listInChunks(): Promise<string[]> {
  const found: string[] = [];
  let next = "";
  do {
    const { body } = await client.send(`GET ${all}?limit=500&continue=${next}`);
    if (next === "") await client.send(`POST ${namespaced(4)}`, { metadata: { name: "z" } });
    found.push(...keysOf(body.items));
    next = body.metadata.continue ?? "";
  } while (next !== "");
  await client.send(`DELETE ${namespaced(4)}/z`);
  return found;
}

function streamList(): Promise<string[]> {
  const found: string[] = [];
  return new Promise((resolve) => {
    const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const stop = client.watch(`${all}?${query}`, ({ type, object }) => {
      if (type === "ADDED") return void found.push(...keysOf([object]));
      stop();
      assert.equal(object.metadata.annotations["k8s.io/initial-events-end"], "true");
      resolve(found);
    });
  });
}

test("deletes the large collection of one namespace only", async () => {
  const { status, body } = await client.send(`DELETE ${namespaced(0)}`);
  assert.deepEqual([status, body.items.length], [200, objects / namespaces]);
  assert.deepEqual(
    keysOf(await list("")),
    allKeys.filter((one) => !one.startsWith("n0/")),
  );
});
