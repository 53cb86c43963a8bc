/**
 * Sharded lists and watches (KEP-5866) of a real server with the gate ShardedListAndWatch. Hashes
 * are computed here in another way than in the server. Guarantees, for any split of the hashes:
 * - each object is in the lists of exactly one shard, in chunks too;
 * - each event reaches the watches of exactly one shard, with the type that a watch of all shards
 *   with the same selectors shows;
 * - without the gate, the parameter has no effect.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { decodeAnyCbor } from "../../src/lib/cbor/decode.ts";
import { decodeAnswer } from "../support/protobuf-answers.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { engines } from "../support/test-engine.ts";
import { until } from "../support/until.ts";
import { type CuttableWatch, http1Watches, http2Watches, type WatchConnection } from "../support/watch-connection.ts";

const random = seededRandom(seed);

const featureGates = "ShardedListAndWatch=true,CBORServingAndStorage=true";
const namespaces = ["default", "one", "two", "three"];
const space = 2n ** 64n;

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

type Field = "uid" | "namespace";

/** FNV-1a with 64 bits. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % space;
  return hash;
}

interface Range {
  readonly start: bigint;
  readonly end: bigint;
}

const digits = (bound: bigint): string => `'0x${bound.toString(16).padStart(16, "0")}'`;

function selectorOf(field: Field, ranges: readonly Range[]): string {
  return ranges
    .map(({ start, end }) => `shardRange(object.metadata.${field}, ${digits(start)}, ${digits(end)})`)
    .join(" || ");
}

function isIn(ranges: readonly Range[], field: Field, { metadata }: Stored): boolean {
  const hash = hashOf(metadata[field]);
  return ranges.some(({ start, end }) => start <= hash && hash < end);
}

/** @returns shards that are unions of random ranges, which together are all hashes */
function randomShards(): Range[][] {
  const bound = (): bigint => (BigInt(random(2 ** 31)) << 33n) | BigInt(random(2 ** 31));
  const bounds = [0n, ...Array.from({ length: random(9) }, bound), space].sort((a, b) => Number(a > b) - Number(a < b));
  const shards: Range[][] = Array.from({ length: 1 + random(4) }, () => []);
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const end = bounds[index + 1] as bigint;
    if (start < end) shards[random(shards.length)]?.push({ start, end });
  }
  return shards.filter((ranges) => ranges.length > 0);
}

const half = space / 2n;
const halves: readonly Range[][] = [[{ start: 0n, end: half }], [{ start: half, end: space }]];
const shardQuery = (selector: string): string => `shardSelector=${encodeURIComponent(selector)}`;
const keyOf = ({ metadata }: Stored): string => `${metadata.namespace}/${metadata.name}`;

interface Fixture {
  readonly server: TestServer;
  readonly client: RawClient;
  get(path: string, accept?: string): Promise<Answer>;
  create(path: string, metadata: object, rest?: object): Promise<Stored>;
}

async function open(options: Parameters<typeof startTestServer>[0]): Promise<Fixture> {
  const server = await startTestServer(options);
  const client = rawClient(server.kubeconfig);
  return {
    server,
    client,
    get: (path, accept) => client.send({ path, headers: accept === undefined ? {} : { accept } }),
    async create(path, metadata, rest = {}) {
      const { status, text, body } = await client.send({ method: "POST", path, body: { ...rest, metadata } });
      assert.equal(status, 201, text);
      return body;
    },
  };
}

for (const [storage, skip] of engines) {
  describe(`the shards of a collection in ${storage} (SEED=${seed})`, { skip }, () => {
    let fixture: Fixture;
    const ranged: Stored[] = [];

    before(async () => {
      fixture = await open({ featureGates, storage });
      for (const namespace of namespaces.slice(1)) await fixture.create("/api/v1/namespaces", { name: namespace });
      for (let index = 0; index < 60; index++) {
        const namespace = namespaces[random(namespaces.length)] as string;
        const labels = { n: String(index % 3) };
        ranged.push(
          await fixture.create(`/api/v1/namespaces/${namespace}/limitranges`, { name: `m-${index}`, labels }),
        );
      }
      ranged.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    });
    after(async () => {
      fixture.client.close();
      await fixture.server.close();
    });

    /** All chunks of a list. */
    async function chunksOf(query: string, limit: number): Promise<Stored[]> {
      const items: Stored[] = [];
      let next = "";
      do {
        const { status, text, body } = await fixture.get(
          `/api/v1/limitranges?${query}&limit=${limit}&continue=${encodeURIComponent(next)}`,
        );
        assert.equal(status, 200, text);
        assert.ok(limit === 0 || body.items.length <= limit);
        items.push(...body.items);
        next = body.metadata.continue ?? "";
      } while (next !== "");
      return items;
    }

    test("partition it, by uid and by namespace, with selectors and in chunks", async () => {
      for (let run = 0; run < 12; run++) {
        const field: Field = random(2) === 0 ? "uid" : "namespace";
        const more = ["", "&labelSelector=n%3D1", "&fieldSelector=metadata.namespace%3Done"][random(3)] as string;
        const matching = ranged.filter(
          ({ metadata }) =>
            !(more.includes("label") && metadata.labels?.n !== "1") &&
            !(more.includes("field") && metadata.namespace !== "one"),
        );
        const seen: string[] = [];
        for (const ranges of randomShards()) {
          const found = await chunksOf(shardQuery(selectorOf(field, ranges)) + more, [0, 1, 7][random(3)] as number);
          const expected = matching.filter((one) => isIn(ranges, field, one));
          assert.deepEqual(found.map(keyOf), expected.map(keyOf), `run ${run}`);
          seen.push(...found.map(keyOf));
        }
        assert.deepEqual(seen.sort(), matching.map(keyOf).sort(), "each object once");
      }
    });

    test("are unions of overlapping ranges, and every list shows its shard", async () => {
      const ranges = [
        { start: half / 2n, end: half },
        { start: 0n, end: half / 2n + 5n },
        { start: 1n, end: half - 1n },
      ];
      const selector = selectorOf("uid", ranges);
      const { body } = await fixture.get(`/api/v1/limitranges?${shardQuery(`  (${selector.replaceAll(", ", ",")}) `)}`);
      assert.deepEqual(Object.keys(body.metadata), ["resourceVersion", "shardInfo"]);
      assert.deepEqual(body.metadata.shardInfo, { selector });
      assert.deepEqual(body.items.map(keyOf), ranged.filter((one) => isIn(ranges, "uid", one)).map(keyOf));
    });
  });
}

for (const [storage, skip] of engines)
  describe(`sharded reads in ${storage}`, { skip }, () => {
    let fixture: Fixture;
    const maps = "/api/v1/namespaces/default/configmaps";
    const stored: Stored[] = [];
    const [low, high] = halves.map((ranges) => selectorOf("uid", ranges)) as [string, string];
    const lowQuery = shardQuery(low);
    let ofLow: string[] = [];
    let ofHigh: string[] = [];

    before(async () => {
      fixture = await open({ featureGates, storage });
      for (let index = 10; index < 34; index++)
        stored.push(await fixture.create(maps, { name: `m-${index}`, labels: { n: String(index % 2) } }));
      [ofLow, ofHigh] = halves.map((ranges) => stored.filter((map) => isIn(ranges, "uid", map)).map(nameOf)) as [
        string[],
        string[],
      ];
      assert.ok(ofLow.length > 1 && ofHigh.length > 1, "both halves have objects");
    });
    after(async () => {
      fixture.client.close();
      await fixture.server.close();
    });

    const nameOf = ({ metadata }: Stored): string => metadata.name;
    const names = (items: readonly Stored[]): string[] => items.map(nameOf);

    const partialList = "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    const shapes: readonly (readonly [accept: string, shown: boolean, read: (answer: Answer) => unknown])[] = [
      ["application/json", true, ({ body }) => body],
      ["application/yaml", true, ({ text }) => ({ metadata: { shardInfo: shardInfoOfYaml(text) } })],
      ["application/vnd.kubernetes.protobuf", true, ({ bytes }) => decodeAnswer(bytes)],
      ["application/cbor", true, ({ bytes }) => decodeAnyCbor(bytes)],
      [`application/json;${partialList}`, false, ({ body }) => body],
      [`application/vnd.kubernetes.protobuf;${partialList}`, false, ({ bytes }) => decodeAnswer(bytes)],
      ["application/json;as=Table;v=v1;g=meta.k8s.io", false, ({ body }) => body],
    ];
    for (const [accept, shown, read] of shapes) {
      test(`a list as ${accept} ${shown ? "shows" : "does not show"} its shard`, async () => {
        const answer = await fixture.get(`${maps}?${lowQuery}`, accept);
        assert.equal(answer.status, 200);
        const { metadata, items, rows } = read(answer) as {
          metadata: { shardInfo?: unknown };
          items?: Stored[];
          rows?: { cells: string[] }[];
        };
        assert.deepEqual(metadata.shardInfo, shown ? { selector: low } : undefined);
        const found = items?.map(nameOf) ?? rows?.map(({ cells }) => cells[0]);
        if (found !== undefined) assert.deepEqual(found, ofLow);
      });
    }

    function shardInfoOfYaml(text: string): unknown {
      const selector = /^ {2}shardInfo:\n {4}selector: (.*(?:\n {6}.*)*)$/m.exec(text)?.[1];
      return { selector: selector?.replace(/\n {6}/g, " ") };
    }

    test("a chunk counts the remaining objects as upstream, and another shard can continue it", async () => {
      const { body } = await fixture.get(`${maps}?${lowQuery}&limit=1`);
      assert.deepEqual(names(body.items), ofLow.slice(0, 1));
      assert.deepEqual(Object.keys(body.metadata), ["resourceVersion", "continue", "remainingItemCount", "shardInfo"]);
      assert.equal(body.metadata.remainingItemCount, stored.length - 1, "of all shards");
      const token = `continue=${encodeURIComponent(body.metadata.continue)}`;
      const position = stored.findIndex((map) => nameOf(map) === ofLow[0]);
      const { body: rest } = await fixture.get(`${maps}?${shardQuery(high)}&${token}`);
      const following = stored.slice(position + 1).map(nameOf);
      assert.deepEqual(
        names(rest.items),
        ofHigh.filter((one) => following.includes(one)),
      );
      assert.deepEqual(rest.metadata.shardInfo, { selector: high });
      const { body: labeled } = await fixture.get(`${maps}?${lowQuery}&limit=1&labelSelector=n`);
      assert.equal(labeled.metadata.remainingItemCount, undefined);
    });

    test("old versions, single names and namespaced paths are sharded", async () => {
      const first = stored[0] as Stored & { metadata: { resourceVersion: string } };
      const exact = `resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
      for (const [selector, items] of [
        [low, ofLow],
        [high, ofHigh],
      ] as const) {
        const expected = items.includes(nameOf(first)) ? [nameOf(first)] : [];
        for (const query of [exact, `fieldSelector=metadata.name%3D${nameOf(first)}`]) {
          const { body } = await fixture.get(`${maps}?${shardQuery(selector)}&${query}`);
          assert.deepEqual(names(body.items), expected, query);
          assert.deepEqual(body.metadata.shardInfo, { selector });
        }
      }
      const get = await fixture.get(`${maps}/${ofHigh[0]}?${lowQuery}`);
      assert.equal(get.status, 200, "a get has no such parameter");
      assert.equal((await fixture.get(`/api/v1/componentstatuses?shardSelector=x`)).status, 200, "as upstream");
    });

    const rejected: readonly (readonly [what: string, selector: string, message: string])[] = [
      ["white space", " ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"],
      ["another function", "f(1)", 'unsupported function "f"; only shardRange() and || are allowed'],
      [
        "two fields",
        `${low} || ${selectorOf("namespace", halves[1] as Range[])}`,
        'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
      ],
      [
        "an empty range",
        selectorOf("uid", [{ start: half, end: half }]),
        "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
      ],
      [
        "short bounds",
        "shardRange(object.metadata.uid, '0x0', '0x8')",
        'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
      ],
      ["nesting without end", "(".repeat(100_000), "CEL parse error: expression recursion limit exceeded: 250"],
      [
        "too much text",
        `${low} //${"x".repeat(100_000)}`,
        `CEL parse error: expression code point size exceeds limit: size: ${low.length + 100_003}, limit 100000`,
      ],
    ];
    for (const [what, selector, message] of rejected) {
      test(`rejects ${what} in lists, watches and deletions of collections with 500, as upstream`, async () => {
        const path = `${maps}?${shardQuery(selector)}`;
        for (const request of [{ path }, { path: `${path}&watch=1` }, { path, method: "DELETE" }]) {
          const { status, body } = await fixture.client.send(request);
          assert.equal(status, 500);
          assert.deepEqual(body, {
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: `invalid shard selector: ${message}`,
            code: 500,
          });
        }
      });
    }

    test("the errors of other options come first", async () => {
      const rows: readonly (readonly [query: string, status: number])[] = [
        ["limit=x", 400],
        ["labelSelector=%3D%3D", 400],
        ["fieldSelector=data%3Dx", 400],
        ["resourceVersionMatch=Exact", 400],
        ["continue=x", 500],
        ["resourceVersion=x", 500],
      ];
      for (const [query, status] of rows)
        assert.equal((await fixture.get(`${maps}?shardSelector=x&${query}`)).status, status, query);
      const name = `fieldSelector=metadata.name%3Dother&watch=1`;
      assert.equal((await fixture.get(`${maps}/m-10?shardSelector=x&${name}`)).status, 400);
    });

    test("a thousand ranges select what they contain", async () => {
      const width = space / 1000n;
      const even = Array.from({ length: 500 }, (_, index) => ({
        start: width * BigInt(2 * index),
        end: width * BigInt(2 * index + 1),
      }));
      const { status, body } = await fixture.get(`${maps}?${shardQuery(selectorOf("uid", even))}`);
      assert.equal(status, 200);
      assert.deepEqual(names(body.items), stored.filter((map) => isIn(even, "uid", map)).map(nameOf));
    });

    describe("watches", () => {
      let connections: WatchConnection[];
      const open: CuttableWatch[] = [];
      before(() => {
        connections = [http1Watches(fixture.server.kubeconfig), http2Watches(fixture.server.kubeconfig)];
      });
      after(() => {
        for (const watch of open) watch.cut();
        for (const connection of connections) connection.break();
      });

      /** @returns the events until the name `end` is shown, as texts; each watch shows that object */
      function eventsOf(query: string, over: WatchConnection, begin = (): void => {}): Promise<string[]> {
        return new Promise((resolve, reject) => {
          const events: string[] = [];
          const watch = over.open(`/api/v1/configmaps?watch=1&${query}`, {
            begin,
            event({ type, object }) {
              const { metadata } = object as unknown as Stored & {
                metadata: { annotations?: Readonly<Record<string, string>> };
              };
              if (metadata.name?.startsWith("end-")) resolve(events);
              else if (type === "BOOKMARK") events.push(`BOOKMARK ${Object.keys(metadata.annotations ?? {}).join()}`);
              else events.push(`${type} ${metadata.uid}`);
            },
            end: (error) => reject(new Error(`the watch ended: ${error?.message}`)),
          });
          open.push(watch);
        });
      }

      const send = async (method: string, path: string, body?: object): Promise<Stored> => {
        const answer = await fixture.client.send({
          method,
          path,
          ...(body && { body, headers: { "content-type": "application/merge-patch+json" } }),
        });
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      };

      /** Creates objects until each of the shards has one, so that each watch ends. */
      async function endWatches(shards: readonly (readonly Range[])[], field: Field): Promise<void> {
        const missing = new Set(shards);
        for (let index = 0; missing.size > 0; index++) {
          const namespace = namespaces[index % namespaces.length] as string;
          const made = await fixture.create(`/api/v1/namespaces/${namespace}/configmaps`, {
            name: `end-${seed}-${Date.now()}-${index}`,
            labels: { n: "1" },
          });
          for (const ranges of missing) if (isIn(ranges, field, made)) missing.delete(ranges);
        }
      }

      test("show each event to one shard, with the type that a watch of all shards shows", async () => {
        for (const namespace of namespaces.slice(1))
          await fixture.client.send({
            method: "POST",
            path: "/api/v1/namespaces",
            body: { metadata: { name: namespace } },
          });
        for (const [field, shards] of [
          ["uid", quarters],
          ["namespace", shardsOfNamespaces()],
        ] as const) {
          const { body } = await fixture.get(`${maps}?limit=1`);
          const from = `resourceVersion=${body.metadata.resourceVersion}&labelSelector=n%3D1`;
          const whole = eventsOf(from, connections[0] as WatchConnection);
          const each = shards.map((ranges, index) =>
            eventsOf(`${from}&${shardQuery(selectorOf(field, ranges))}`, connections[index % 2] as WatchConnection),
          );
          const made = new Map<string, Stored>();
          for (let index = 0; index < 24; index++) {
            const path = `/api/v1/namespaces/${namespaces[index % namespaces.length]}/configmaps`;
            const one = await fixture.create(path, { name: `w-${field}-${index}`, labels: { n: String(index % 2) } });
            made.set(one.metadata.uid, one);
            const at = `${path}/${one.metadata.name}`;
            await send("PATCH", at, { data: { k: "v" } });
            await send("PATCH", at, { metadata: { labels: { n: String((index + 1) % 2) } } });
            if (index % 3 === 0) await send("DELETE", at);
          }
          await endWatches(shards, field);
          const all = await whole;
          assert.ok(all.length > 36);
          for (const [index, events] of (await Promise.all(each)).entries()) {
            const ranges = shards[index] as readonly Range[];
            const own = all.filter((event) => isIn(ranges, field, made.get(event.split(" ")[1] as string) as Stored));
            assert.deepEqual(events, own);
          }
        }
      });

      const quarters = [0n, 1n, 2n, 3n].map((index) => [
        { start: (half / 2n) * index, end: (half / 2n) * (index + 1n) },
      ]);

      /** Two shards that both have namespaces: hashes of the names are not random. */
      function shardsOfNamespaces(): Range[][] {
        const [, second] = namespaces.map(hashOf).sort((a, b) => Number(a > b) - Number(a < b)) as [bigint, bigint];
        return [[{ start: 0n, end: second }], [{ start: second, end: space }]];
      }

      test("begin with the existing objects of the shard, and the bookmark that ends them", async () => {
        const { body } = await fixture.get(`${maps}?${lowQuery}`);
        const listed = body.items.map(({ metadata }: Stored) => `ADDED ${metadata.uid}`);
        const over = connections[1] as WatchConnection;
        const streaming = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        const own = "fieldSelector=metadata.namespace%3Ddefault";
        const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
        const streamed = eventsOf(`${streaming}&${own}&${lowQuery}`, over, begun[0].resolve);
        const legacy = eventsOf(`resourceVersion=0&${own}&${lowQuery}`, over, begun[1].resolve);
        await Promise.all(begun.map(({ promise }) => promise)); // The watches do not begin with what is created next.
        const name = `end-${seed}-initial`;
        for (let index = 0; ; index++) {
          const made = await fixture.create(maps, { name: `${name}-${index}` });
          if (isIn(halves[0] as Range[], "uid", made)) break;
        }
        assert.deepEqual(
          (await streamed).filter((event) => event !== "BOOKMARK "),
          withoutEnds([...listed, "BOOKMARK k8s.io/initial-events-end"]),
        );
        assert.deepEqual(await legacy, withoutEnds(listed));

        function withoutEnds(events: readonly string[]): string[] {
          const ends = new Set(
            body.items
              .filter(({ metadata }: Stored) => metadata.name.startsWith("end-"))
              .map(({ metadata }: Stored) => `ADDED ${metadata.uid}`),
          );
          return events.filter((event) => !ends.has(event));
        }
      });
    });

    test("a deletion of a collection deletes the objects of the shard", async () => {
      const path = "/api/v1/namespaces/default/secrets";
      const secrets: Stored[] = [];
      for (let index = 10; index < 26; index++) secrets.push(await fixture.create(path, { name: `s-${index}` }));
      const { status, body } = await fixture.client.send({ method: "DELETE", path: `${path}?${lowQuery}` });
      const deleted = secrets.filter((secret) => isIn(halves[0] as Range[], "uid", secret)).map(nameOf);
      assert.equal(status, 200);
      assert.deepEqual(names(body.items), deleted);
      assert.deepEqual(body.metadata.shardInfo, { selector: low });
      const kept = await fixture.get(path);
      assert.deepEqual(
        names(kept.body.items),
        secrets.map(nameOf).filter((one) => !deleted.includes(one)),
      );
    });

    test("custom resources are sharded, and their lists do not show it, as upstream's", async () => {
      await fixture.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        { name: "things.example.com" },
        {
          spec: {
            group: "example.com",
            scope: "Namespaced",
            names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
            versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
          },
        },
      );
      const path = "/apis/example.com/v1/namespaces/default/things";
      await until(async () => (await fixture.get(path)).status === 200);
      const things: Stored[] = [];
      for (let index = 10; index < 30; index++) {
        const metadata = { name: `t-${index}`, labels: { uid: "x" }, annotations: { uid: "x" } };
        things.push(await fixture.create(path, metadata, { apiVersion: "example.com/v1", kind: "Thing" }));
      }
      for (const ranges of halves) {
        const { body } = await fixture.get(`${path}?${shardQuery(selectorOf("uid", ranges))}`);
        assert.deepEqual(Object.keys(body.metadata), ["continue", "resourceVersion"]);
        assert.deepEqual(names(body.items), things.filter((thing) => isIn(ranges, "uid", thing)).map(nameOf));
      }
      const { text } = await fixture.get(`${path}?${lowQuery}`, "application/yaml");
      assert.doesNotMatch(text, /shardInfo/);
    });

    test("metrics count the watches of shards and the states that they exclude", async () => {
      const read = async (name: string): Promise<number> => {
        const { text } = await fixture.get("/metrics");
        return Number(new RegExp(`^${name}{group="",resource="endpoints"} (\\d+)$`, "m").exec(text)?.[1] ?? -1);
      };
      const open = "apiserver_watch_shards_total";
      const excluded = "apiserver_watch_filtered_events_total";
      assert.deepEqual([await read(open), await read(excluded)], [-1, -1], "no series before the first");
      const path = "/api/v1/namespaces/default/endpoints";
      const existing = (await fixture.get(path)).body.items as Stored[];
      const watches = http1Watches(fixture.server.kubeconfig);
      const received: string[] = [];
      let ended = (): void => {};
      const bothSeen = new Promise<void>((resolve) => {
        ended = resolve;
      });
      for (const ranges of halves)
        watches.open(`${path}?watch=1&resourceVersion=0&${shardQuery(selectorOf("uid", ranges))}`, {
          event({ type, object }) {
            received.push(`${type} ${object.metadata.name}`);
            if (type === "DELETED") ended();
          },
          end() {},
        });
      await until(async () => (await read(open)) === 2);
      await fixture.create(path, { name: "e" });
      const change = { method: "PATCH", path: `${path}/e`, body: { metadata: { labels: { a: "b" } } } };
      await fixture.client.send({ ...change, headers: { "content-type": "application/merge-patch+json" } });
      await fixture.client.send({ method: "DELETE", path: `${path}/e` });
      await bothSeen;
      assert.deepEqual(received.slice(-3), ["ADDED e", "MODIFIED e", "DELETED e"]);
      const states = existing.length + 1 + 2 + 1; // The change has two states.
      await until(async () => (await read(excluded)) >= states);
      assert.equal(await read(excluded), states, "the other shard excluded each once");
      watches.break();
      await until(async () => (await read(open)) === 0);
    });
  });

test("without the gate, the parameter has no effect", async () => {
  const { client, server, get, create } = await open({});
  try {
    const path = "/api/v1/namespaces/default/configmaps";
    await create(path, { name: "a" });
    await create(path, { name: "b" });
    const none = selectorOf("uid", [{ start: 0n, end: 1n }]);
    for (const selector of [none, "x", " "]) {
      const { status, body } = await get(`${path}?${shardQuery(selector)}`);
      assert.deepEqual([status, body.items.length, body.metadata.shardInfo], [200, 2, undefined]);
    }
    const watched = await get(`${path}?watch=1&timeoutSeconds=1&${shardQuery(none)}`);
    assert.equal(watched.text.split("\n").filter((line) => line.startsWith('{"type":"ADDED"')).length, 2);
    assert.doesNotMatch((await get("/metrics")).text, /watch_shards|watch_filtered/);
    const { body } = await client.send({ method: "DELETE", path: `${path}?shardSelector=x` });
    assert.equal(body.items.length, 2);
  } finally {
    client.close();
    await server.close();
  }
});
