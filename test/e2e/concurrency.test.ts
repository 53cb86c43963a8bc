/**
 * Many clients at once. Guarantees:
 * - writers that read, change and write back lose no update of another writer;
 * - concurrent patches of one object all succeed;
 * - one of many creations of a name succeeds, and one of many deletions of an object;
 * - generated names are unique;
 * - a collection that is deleted while other clients write to it is empty after the last deletion;
 * - an object that is created while its namespace is terminating is rejected or deleted with it.
 * Concurrent reads and watches are tested in model/model.test.ts.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Http2Client, http2Client } from "../support/http2-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { engines } from "../support/test-engine.ts";

const sizes =
  process.env.COXSWAIN_TEST_FULL === "1"
    ? { increments: 10, patches: 300, names: 1000, collection: 200 }
    : { increments: 4, patches: 100, names: 300, collection: 100 };
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

for (const [storage, skip] of engines) {
  describe(`concurrent clients with ${storage} storage`, { skip }, () => {
    let server: TestServer;
    let clients: Http2Client[];
    const client = (index: number): Http2Client => clients[index % clients.length] as Http2Client;

    before(async () => {
      server = await startTestServer({ storage });
      clients = times(4, () => http2Client(server.kubeconfig));
    });
    after(async () => {
      for (const one of clients) one.close();
      await server.close();
    });

    /** Creates a namespace. @returns the path of its ConfigMaps */
    async function freshMaps(name: string): Promise<string> {
      await client(0).send("POST /api/v1/namespaces", { metadata: { name } });
      return `/api/v1/namespaces/${name}/configmaps`;
    }

    test("no update is lost when clients read, change and write back", async () => {
      const maps = await freshMaps("updates");
      await client(0).send(`POST ${maps}`, { metadata: { name: "counter" }, data: { count: "0" } });
      const { increments } = sizes;
      const writer = async (index: number): Promise<void> => {
        for (let done = 0; done < increments; ) {
          const { body } = await client(index).send(`GET ${maps}/counter`);
          body.data.count = String(Number(body.data.count) + 1);
          const { status } = await client(index + 1).send(`PUT ${maps}/counter`, body);
          assert.ok(status === 200 || status === 409, String(status));
          if (status === 200) done++;
        }
      };
      await Promise.all(times(8, writer));
      assert.equal((await client(0).send(`GET ${maps}/counter`)).body.data.count, String(8 * increments));
    });

    test(`${sizes.patches} concurrent patches of one object succeed`, async () => {
      const maps = await freshMaps("patches");
      await client(0).send(`POST ${maps}`, { metadata: { name: "a" } });
      const answers = await Promise.all(
        times(sizes.patches, (index) =>
          client(index).send(`PATCH ${maps}/a`, { data: { [`k${index}`]: "v" } }, index % 2 === 0 ? merge : strategic),
        ),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(Object.keys((await client(0).send(`GET ${maps}/a`)).body.data).length, sizes.patches);
    });

    test("one of many creations of a name succeeds, and one of many deletions", async () => {
      const maps = await freshMaps("once");
      const created = await Promise.all(
        times(50, (index) => client(index).send(`POST ${maps}`, { metadata: { name: "a" } })),
      );
      assert.deepEqual(countOf(created), { 201: 1, 409: 49 });
      const deleted = await Promise.all(times(50, (index) => client(index).send(`DELETE ${maps}/a`)));
      assert.deepEqual(countOf(deleted), { 200: 1, 404: 49 });
    });

    test("generated names are unique", async () => {
      const maps = await freshMaps("generated");
      const created = await Promise.all(
        times(sizes.names, (index) => client(index).send(`POST ${maps}`, { metadata: { generateName: "g-" } })),
      );
      assert.deepEqual(countOf(created), { 201: sizes.names });
      assert.equal(new Set(created.map(({ body }) => body.metadata.name)).size, sizes.names);
    });

    test("a collection is empty after the last deletion when other clients write to it", async () => {
      const maps = await freshMaps("collection");
      const body = { metadata: { generateName: "c-", labels: { go: "1" } } };
      const writers = times(sizes.collection, (index) => client(index).send(`POST ${maps}`, body));
      const deletions = times(3, (index) => client(index).send(`DELETE ${maps}?labelSelector=go%3D1`));
      assert.deepEqual(countOf(await Promise.all(deletions)), { 200: 3 });
      await Promise.all(writers);
      await client(0).send(`DELETE ${maps}?labelSelector=go%3D1`);
      assert.deepEqual((await client(0).send(`GET ${maps}`)).body.items, []);
    });

    test("an object that is created while its namespace is terminating is rejected or deleted", async () => {
      const maps = await freshMaps("going");
      const writers = times(8, async (index) => {
        for (;;) {
          const { status, body } = await client(index).send(`POST ${maps}`, { metadata: { generateName: "late-" } });
          if (status === 404) return; // The namespace is deleted.
          assert.ok(
            status === 201 || body.details?.causes?.[0]?.reason === "NamespaceTerminating",
            JSON.stringify(body),
          );
        }
      });
      await client(0).send("DELETE /api/v1/namespaces/going");
      await Promise.all(writers);
      assert.deepEqual((await client(0).send(`GET ${maps}`)).body.items, []);
    });
  });
}

function countOf(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
