/**
 * Versions that a webhook converts, on a real server over TLS. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion
 */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { jsonWords, mutate } from "../support/mutate.ts";
import { skipWithout } from "../support/needs.ts";
import { peerLatency } from "../support/peer-latency.ts";
import type { Answer } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";
import { http2Watches } from "../support/watch-connection.ts";
import { startWebhookServer, type WebhookReply, type WebhookRequest } from "../support/webhook-server.ts";
import { answerOf, definitionOf, good, target } from "./conversion/targets.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Json = any;

let reply: (request: WebhookRequest) => WebhookReply | Promise<WebhookReply> = good;
const webhook = await startWebhookServer((request) => reply(request), { names: ["127.0.0.1", "conv.hooks.svc"] });
const { server, client } = await startServerWithClient({
  serviceResolver: () => ({ host: "127.0.0.1", port: webhook.port }),
  featureGates: "ShardedListAndWatch=true",
});
after(() => webhook.close());

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const path = (at: string, rest = ""): string => `/apis/example.com/${at}/namespaces/default/targets${rest}`;
const send = (method: string, at: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
  client.send({ method, path: at, headers, ...(body !== undefined && { body }) });
const ok = async (method: string, at: string, body?: object, headers: Record<string, string> = {}): Promise<Json> => {
  const answer = await send(method, at, body, headers);
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`);
  return answer.body;
};
const merge = { "content-type": "application/merge-patch+json" };
const applied = { "content-type": "application/apply-patch+yaml" };

before(async () => {
  const clientConfig = { url: `${webhook.url}/convert`, caBundle: Buffer.from(webhook.ca).toString("base64") };
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1", "v1beta1"] } };
  await ok("POST", definitions, definitionOf(conversion));
  await eventually("served", async () => (await send("GET", path("v2"))).status === 200);
});
afterEach(() => {
  reply = good;
});

test("an object is stored at the storage version and readable at each version", async () => {
  const created = await ok("POST", path("v2"), target("v2", "a", { host: "h", port: 80, other: 1 }));
  assert.deepEqual([created.apiVersion, created.spec], ["example.com/v2", { host: "h", port: 80 }]);
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "h:80" });
  assert.deepEqual((await ok("GET", path("v2", "/a"))).spec, { host: "h", port: 80 });
  const { metadata } = await ok("GET", path("v2", "/a"));
  assert.deepEqual(metadata, { ...(await ok("GET", path("v1", "/a"))).metadata });
  const review = webhook.requests.at(-1)?.body;
  assert.deepEqual(
    [review.kind, review.apiVersion, review.request.desiredAPIVersion],
    ["ConversionReview", "apiextensions.k8s.io/v1", "example.com/v2"],
  );
  assert.equal(webhook.requests.at(-1)?.path, "/convert?timeout=30s");
});

test("requests at the storage version do not call the webhook", async () => {
  const before = webhook.requests.length;
  await ok("POST", path("v1"), target("v1", "b", { hostPort: "b:1" }));
  await ok("GET", path("v1", "/b"));
  await ok("GET", path("v1"));
  await ok("PATCH", path("v1", "/b"), { spec: { replicas: 2 } }, merge);
  assert.equal(webhook.requests.length, before);
});

test("a write is validated by the schema of its version", async () => {
  const rejected = await send("POST", path("v2"), target("v2", "c", { host: "h", port: 70_000 }));
  assert.equal(rejected.status, 422);
  assert.match(rejected.body.message, /spec\.port: Invalid value: 70000/);
});

test("update, patch, status and scale work at a version that is not stored", async () => {
  const seen = await ok("GET", path("v2", "/a"));
  const updated = await ok("PUT", path("v2", "/a"), { ...seen, spec: { ...seen.spec, port: 81 } });
  assert.deepEqual([updated.spec.port, updated.metadata.generation], [81, 2]);
  const patched = await ok("PATCH", path("v2", "/a"), { spec: { host: "i" } }, merge);
  assert.deepEqual(patched.spec, { host: "i", port: 81 });
  const json = { "content-type": "application/json-patch+json" };
  assert.equal(
    (await ok("PATCH", path("v2", "/a"), [{ op: "replace", path: "/spec/port", value: 82 }], json)).spec.port,
    82,
  );
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "i:82" });
  const status = await ok("PATCH", path("v2", "/a/status"), { status: { seen: "yes" }, spec: { host: "no" } }, merge);
  assert.deepEqual([status.status, status.spec.host], [{ seen: "yes" }, "i"]);
  const scale = await ok("PATCH", path("v2", "/a/scale"), { spec: { replicas: 3 } }, merge);
  assert.equal(scale.spec.replicas, 3);
  assert.equal((await ok("GET", path("v2", "/a/scale"))).spec.replicas, 3);
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "i:82", replicas: 3 });
  const same = await ok("GET", path("v2", "/a"));
  const again = await ok("PUT", path("v2", "/a"), same);
  assert.equal(again.metadata.resourceVersion, same.metadata.resourceVersion);
});

test("a dry run answers at its version and stores nothing", async () => {
  const dry = await ok("POST", `${path("v2")}?dryRun=All`, target("v2", "dry", { host: "d", port: 1 }));
  assert.deepEqual([dry.apiVersion, dry.spec], ["example.com/v2", { host: "d", port: 1 }]);
  assert.equal((await send("GET", path("v1", "/dry"))).status, 404);
  const updated = await ok("PATCH", `${path("v2", "/a")}?dryRun=All`, { spec: { host: "dry" } }, merge);
  assert.deepEqual([updated.apiVersion, updated.spec.host], ["example.com/v2", "dry"]);
  assert.equal((await ok("GET", path("v2", "/a"))).spec.host, "i");
});

test("applies at two versions own fields at their versions", async () => {
  const first = await ok(
    "PATCH",
    path("v2", "/ssa?fieldManager=one"),
    target("v2", "ssa", { host: "s", port: 1 }),
    applied,
  );
  assert.deepEqual([first.apiVersion, first.spec], ["example.com/v2", { host: "s", port: 1 }]);
  const second = await ok(
    "PATCH",
    path("v1", "/ssa?fieldManager=two"),
    target("v1", "ssa", { replicas: 4 } as object),
    applied,
  );
  assert.deepEqual(second.spec, { hostPort: "s:1", replicas: 4 });
  const managers = second.metadata.managedFields.map(({ manager, apiVersion }: Json) => [manager, apiVersion]);
  assert.deepEqual(managers.sort(), [
    ["one", "example.com/v2"],
    ["two", "example.com/v1"],
  ]);
  const conflict = await send(
    "PATCH",
    path("v2", "/ssa?fieldManager=three"),
    target("v2", "ssa", { host: "t" }),
    applied,
  );
  assert.equal(conflict.status, 409);
  assert.match(
    conflict.body.message,
    /conflict with "one" using example\.com\/v2: \.spec\.host|conflict with "one": \.spec\.host/,
  );
  const gone = await ok("PATCH", path("v1", "/ssa?fieldManager=two"), target("v1", "ssa", {}), applied);
  assert.deepEqual(gone.spec, { hostPort: "s:1" });
  const changed = await ok("PATCH", path("v1", "/ssa?fieldManager=four"), { spec: { hostPort: "other:9" } }, merge);
  const owners = changed.metadata.managedFields.map(({ manager }: Json) => manager);
  assert.deepEqual(owners.sort(), ["four", "two"]); // The manager `one` owned the host at v2.
});

test("a list sends one review with the objects to convert", async () => {
  await ok(
    "POST",
    path("v1"),
    target("v1", "l1", { hostPort: "l:1" }, { metadata: { name: "l1", labels: { list: "yes" } } }),
  );
  await ok(
    "POST",
    path("v1"),
    target("v1", "l2", { hostPort: "m:2" }, { metadata: { name: "l2", labels: { list: "yes" } } }),
  );
  const before = webhook.requests.length;
  const list = await ok("GET", `${path("v2")}?labelSelector=list`);
  assert.deepEqual(
    list.items.map(({ apiVersion, metadata, spec }: Json) => [apiVersion, metadata.name, spec]),
    [
      ["example.com/v2", "l1", { host: "l", port: 1 }],
      ["example.com/v2", "l2", { host: "m", port: 2 }],
    ],
  );
  assert.equal(list.apiVersion, "example.com/v2");
  assert.equal(webhook.requests.length, before + 1);
  await ok("GET", path("v2"));
  assert.equal(webhook.requests.length, before + 1); // The conversions are cached.
  const byField = await ok("GET", `${path("v2")}?fieldSelector=spec.host=m`);
  assert.deepEqual(
    byField.items.map(({ metadata }: Json) => metadata.name),
    ["l2"],
  );
  const chunk = await ok("GET", `${path("v2")}?limit=2`);
  assert.equal(chunk.items.length, 2);
  const rest = await ok("GET", `${path("v2")}?limit=100&continue=${chunk.metadata.continue}`);
  const names = [...chunk.items, ...rest.items].map(({ metadata }: Json) => metadata.name);
  assert.deepEqual(
    names,
    (await ok("GET", path("v1"))).items.map(({ metadata }: Json) => metadata.name),
  );
});

test("tables and metadata have the requested version", async () => {
  const table = await ok("GET", path("v2"), undefined, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });
  const row = table.rows.find(({ object }: Json) => object.metadata.name === "l1");
  assert.deepEqual([table.columnDefinitions[1].name, row.cells[1]], ["Host", "l"]);
  const one = await ok("GET", path("v2", "/l1"), undefined, {
    accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  });
  assert.deepEqual([one.kind, one.metadata.name], ["PartialObjectMetadata", "l1"]);
  const yaml = await send("GET", path("v2", "/l1"), undefined, { accept: "application/yaml" });
  assert.match(yaml.text, /host: l\n/);
});

test("a watch has events of its version in order", async () => {
  const connection = http2Watches(server.kubeconfig);
  const events: Json[] = [];
  const { resourceVersion } = (await ok("GET", path("v1"))).metadata;
  const selected = `${path("v2")}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=spec.host=w`;
  const watch = connection.open(selected, { event: (event) => events.push(event), end() {} });
  let delay = 20;
  reply = async (request) => {
    delay = 20 - delay;
    await peerLatency(delay);
    return good(request);
  };
  await ok("POST", path("v1"), target("v1", "w1", { hostPort: "w:1" }));
  for (let port = 2; port < 8; port++) await ok("PATCH", path("v1", "/w1"), { spec: { hostPort: `w:${port}` } }, merge);
  await ok("PATCH", path("v1", "/w1"), { spec: { hostPort: "x:1" } }, merge);
  await ok("PATCH", path("v1", "/w1"), { spec: { hostPort: "w:8" } }, merge);
  await ok("DELETE", path("v1", "/w1"));
  await eventually("10 events", async () => events.length >= 10);
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.apiVersion, object.spec.port]),
    [
      ["ADDED", "example.com/v2", 1],
      ...[2, 3, 4, 5, 6, 7].map((port) => ["MODIFIED", "example.com/v2", port]),
      ["DELETED", "example.com/v2", 7],
      ["ADDED", "example.com/v2", 8],
      ["DELETED", "example.com/v2", 8],
    ],
  );
  watch.cut();
  connection.break();
});

test("converted objects are in the shards of the stored objects", async () => {
  for (let index = 0; index < 12; index++)
    await ok("POST", path("v1"), target("v1", `shard-${index}`, { hostPort: "s:1" }));
  const connection = http2Watches(server.kubeconfig);
  const namesOf = ({ items }: Json): string[] => items.map(({ metadata }: Json) => metadata.name);
  const bounds = ["0x0000000000000000", "0x8000000000000000", "0x10000000000000000"];
  const listed: string[] = [];
  for (const [index, end] of bounds.slice(1).entries()) {
    const selector = `shardRange(object.metadata.uid, '${bounds[index]}', '${end}')`;
    const query = `shardSelector=${encodeURIComponent(selector)}`;
    const names = namesOf(await ok("GET", `${path("v1")}?${query}`));
    assert.deepEqual(namesOf(await ok("GET", `${path("v2")}?${query}`)), names);
    const events: Json[] = [];
    connection.open(`${path("v2")}?watch=1&resourceVersion=0&${query}`, { event: (e) => events.push(e), end() {} });
    await eventually("the initial events", async () => events.length >= names.length);
    const shown = events.map(({ type, object }) => `${type} ${object.apiVersion} ${object.metadata.name}`);
    assert.deepEqual(
      shown,
      names.map((name) => `ADDED example.com/v2 ${name}`),
    );
    listed.push(...names);
  }
  assert.deepEqual(listed.sort(), namesOf(await ok("GET", path("v2"))).sort());
  for (let index = 0; index < 12; index++) await ok("DELETE", path("v1", `/shard-${index}`));
  connection.break();
});

test("watchers of the same version share reviews", async () => {
  const connection = http2Watches(server.kubeconfig);
  const { length } = (await ok("GET", path("v2"))).items;
  const seen: Json[][] = [[], [], []];
  for (const events of seen)
    connection.open(`${path("v2")}?watch=1`, { event: (event) => events.push(event), end() {} });
  await eventually("initial events", async () => seen.every((events) => events.length === length));
  const before = webhook.requests.length;
  await ok("POST", path("v1"), target("v1", "many", { hostPort: "n:1" }));
  await eventually("seen by all", async () => seen.every((events) => events.length === length + 1));
  assert.equal(webhook.requests.length, before + 1);
  connection.break();
});

test("a streaming list has objects of its version before its bookmark", async () => {
  const connection = http2Watches(server.kubeconfig);
  const events: Json[] = [];
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  reply = async (request) => {
    await peerLatency(20);
    return good(request);
  };
  connection.open(`${path("v2")}?${query}`, { event: (event) => events.push(event), end() {} });
  await eventually("all of it", async () => events.at(-1)?.type === "BOOKMARK");
  const { items } = await ok("GET", path("v1"));
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.apiVersion, object.metadata.name ?? object.metadata.annotations]),
    [
      ...items.map(({ metadata }: Json) => ["ADDED", "example.com/v2", metadata.name]),
      ["BOOKMARK", "example.com/v2", { "k8s.io/initial-events-end": "true" }],
    ],
  );
  connection.break();
});

test("a watch repeats a failed conversion of its events", async () => {
  const connection = http2Watches(server.kubeconfig);
  const { metadata } = await ok("GET", path("v1"));
  const events: Json[] = [];
  connection.open(`${path("v2")}?watch=1&resourceVersion=${metadata.resourceVersion}`, {
    event: (event) => events.push(event),
    end() {},
  });
  const before = webhook.requests.length;
  reply = () => ({ kind: "ConversionReview" });
  await ok("POST", path("v1"), target("v1", "broken", { hostPort: "n:1" }));
  await ok("PATCH", path("v1", "/broken"), { spec: { hostPort: "n:2" } }, merge);
  await eventually("a failed conversion", async () => webhook.requests.length > before);
  reply = good;
  await eventually("seen", async () => events.length === 2);
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.spec.port]),
    [
      ["ADDED", 1],
      ["MODIFIED", 2],
    ],
  );
  connection.break();
});

const bad = "conversion webhook for example.com/v1, Kind=Target";
const badRows: [what: string, reply: (request: WebhookRequest) => WebhookReply, message: string | RegExp][] = [
  [
    "answers with another uid",
    (request) => answerOf(request, undefined, { uid: "x" }),
    /^conversion webhook .* failed: expected response\.uid="[-0-9a-f]{36}", got "x"$/,
  ],
  ["returns no object", (request) => answerOf(request, () => []), `${bad} returned 0 objects, expected 1`],
  [
    "returns the object unchanged",
    (request) => answerOf(request, () => request.body.request.objects),
    `${bad} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
  ],
  [
    "renames the object",
    (request) => answerOf(request, ([one]) => [{ ...one, metadata: { ...one.metadata, name: "z" } }]),
    `${bad} returned invalid object: must have the same name: a != z`,
  ],
  [
    "returns invalid labels",
    (request) => answerOf(request, ([one]) => [{ ...one, metadata: { ...one.metadata, labels: { a: 1 } } }]),
    `${bad} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
  ],
  [
    "reports a failure",
    (request) => answerOf(request, () => [], { result: { status: "Failure", message: "not today" } }),
    `${bad} failed: not today`,
  ],
  [
    "answers with text that is not JSON",
    () => "garbage",
    new RegExp(`^${bad} failed: couldn't get version/kind; json parse error: `),
  ],
  [
    "sends an empty answer",
    () => "",
    `${bad} failed: 0-length response with status code: 200 and content type: application/json`,
  ],
  [
    "answers with an error",
    () => (response) => response.writeHead(503, { "content-type": "text/plain" }).end("deleted"),
    `${bad} failed: the server is currently unable to handle the request`,
  ],
  [
    "closes the connection",
    () => (response) => void response.socket?.destroy(),
    /^conversion webhook .* failed: Post "https:\/\/127\.0\.0\.1:\d+\/convert\?timeout=30s": EOF$/,
  ],
];

const writtenAtV2 = "conversion webhook for example.com/v2, Kind=Target";
const v2ToV1 = "(expected example.com/v1, received example.com/v2)";

for (const [what, answer, message] of badRows) {
  test(`reads and writes at the other version fail and change nothing when the webhook ${what}`, async () => {
    const before = await ok("GET", path("v1", "/a"));
    reply = answer;
    const writes: Promise<Answer>[] = [
      send("GET", path("v2", "/a")),
      send("PATCH", path("v2", "/a"), { spec: { host: "never" } }, merge),
      send(
        "PUT",
        path("v2", "/a"),
        target(
          "v2",
          "a",
          { host: "never" },
          { metadata: { name: "a", resourceVersion: before.metadata.resourceVersion } },
        ),
      ),
      send("PATCH", path("v2", "/a?fieldManager=x&force=true"), target("v2", "a", { host: "never" }), applied),
    ];
    for (const { status, body } of await Promise.all(writes)) {
      assert.deepEqual([status, body.reason], [500, undefined]);
      const reported = body.message
        .replace(writtenAtV2, bad)
        .replace(v2ToV1, "(expected example.com/v2, received example.com/v1)"); // The conversion for the read is cached.
      if (typeof message === "string") assert.equal(reported, message);
      else assert.match(reported, message);
    }
    const rejected = await send("POST", path("v2"), target("v2", "never", { host: "n" }));
    assert.equal(rejected.status, 500);
    assert.match(rejected.body.message, /^conversion webhook for example\.com\/v2, Kind=Target /);
    assert.equal((await send("GET", path("v1", "/never"))).status, 404);
    assert.deepEqual(await ok("GET", path("v1", "/a")), before);
  });
}

const damagedAnswers = process.env.COXSWAIN_TEST_FULL === "1" ? 5000 : 100;

test(`invalid reviews do not damage objects (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  await ok("POST", path("v1"), target("v1", "fuzzed", { hostPort: "f:1" }));
  const before = await ok("GET", path("v1", "/fuzzed"));
  let answer = "";
  reply = (request) => {
    const whole = Buffer.from(JSON.stringify(answerOf(request)));
    answer = mutate(whole, { others: [Buffer.from(request.text)], words: jsonWords, random }).toString("latin1");
    return (response) => response.writeHead(200, { "content-type": "application/json" }).end(answer, "latin1");
  };
  for (let times = 0; times < damagedAnswers; times++) {
    const write =
      random(2) === 0
        ? await send("GET", path("v2", "/fuzzed"))
        : await send("PATCH", path("v2", "/fuzzed"), { spec: { replicas: times } }, merge);
    assert.ok([200, 422, 500].includes(write.status), `${write.status}: ${answer}`);
    const { status, body } = await send("GET", path("v1", "/fuzzed"));
    assert.deepEqual([status, body.apiVersion, body.kind], [200, "example.com/v1", "Target"], answer);
    const {
      labels: _l,
      annotations: _a,
      managedFields: _m,
      resourceVersion: _r,
      generation: _g,
      ...metadata
    } = body.metadata;
    assert.deepEqual({ ...before.metadata, ...metadata }, before.metadata, answer);
    for (const field of Object.keys(body))
      assert.ok(["apiVersion", "kind", "metadata", "spec", "status"].includes(field), answer);
  }
});

test("the webhook can change only labels and annotations", async () => {
  const before = await ok("GET", path("v1", "/a"));
  reply = (request) =>
    answerOf(request, (objects) =>
      objects.map((one) => ({
        ...one,
        metadata: {
          ...one.metadata,
          labels: { by: "webhook" },
          annotations: { a: "b" },
          generation: 99,
          finalizers: ["x/y"],
          ownerReferences: [{}],
        },
      })),
    );
  const seen = await ok("GET", path("v2", "/a"));
  assert.deepEqual(seen.metadata, { ...before.metadata, labels: { by: "webhook" }, annotations: { a: "b" } });
});

test("a list names the object whose conversion fails", async () => {
  await ok("PATCH", path("v1", "/l2"), { spec: { replicas: 1 } }, merge);
  await ok("PATCH", path("v1", "/l1"), { spec: { replicas: 1 } }, merge);
  reply = (request) =>
    answerOf(request, (objects) =>
      objects.map((one) => (one.metadata.name === "l2" ? { ...one, kind: "Other" } : one)),
    );
  const { status, body } = await send("GET", path("v2"));
  const { objects } = (webhook.requests.at(-1) as WebhookRequest).body.request;
  const index = objects.findIndex(({ metadata }: Json) => metadata.name === "l2");
  assert.deepEqual(
    [status, body.message],
    [
      500,
      `conversion webhook for example.com/v1, Kind=TargetList returned invalid converted object at index ${index}: invalid kind (expected Target, received Other)`,
    ],
  );
  assert.equal((await send("GET", path("v2", "/l1"))).status, 200); // Other objects can be read.
});

test("a webhook that never answers delays only requests that need it", async () => {
  const held: ((value: WebhookReply) => void)[] = [];
  reply = (request) => new Promise((resolve) => held.push(() => resolve(good(request))));
  const waiting = Promise.all(Array.from({ length: 20 }, () => send("GET", path("v2", "/a"))));
  await eventually("called", async () => held.length === 20);
  const startedAt = performance.now();
  for (let requests = 0; requests < 50; requests++) await ok("GET", path("v1", "/a"));
  await ok("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "other" } });
  await ok("PATCH", path("v1", "/b"), { spec: { replicas: 9 } }, merge);
  assert.ok(performance.now() - startedAt < 5000);
  for (const release of held) release({});
  for (const { status } of await waiting) assert.equal(status, 200);
});

test("a deletion needs the webhook only at a version that is not stored", async () => {
  await ok(
    "POST",
    path("v1"),
    target("v1", "held", { hostPort: "h:1" }, { metadata: { name: "held", finalizers: ["x/y"] } }),
  );
  reply = () => "";
  for (const name of ["l1", "held"]) {
    const rejected = await send("DELETE", path("v2", `/${name}`));
    assert.deepEqual(
      [rejected.status, /^conversion webhook for example\.com\/v1, Kind=Target failed: /.test(rejected.body.message)],
      [500, true],
    );
    assert.equal((await ok("GET", path("v1", `/${name}`))).metadata.deletionTimestamp, undefined);
  }
  assert.equal((await ok("DELETE", path("v1", "/held"))).metadata.deletionTimestamp !== undefined, true);
  assert.equal((await send("PATCH", path("v2", "/held"), { metadata: { finalizers: null } }, merge)).status, 500);
  await ok("PATCH", path("v1", "/held"), { metadata: { finalizers: null } }, merge);
  assert.equal((await send("GET", path("v1", "/held"))).status, 404);
  await ok("DELETE", path("v1", "/l1"));
  const rejected = await send("DELETE", `${path("v2")}?labelSelector=list`);
  assert.equal(rejected.status, 500);
  assert.equal((await ok("GET", `${path("v1")}?labelSelector=list`)).items.length, 1);
  reply = good;
  assert.deepEqual(
    (await ok("DELETE", `${path("v2")}?labelSelector=list`)).items.map(({ apiVersion, metadata }: Json) => [
      apiVersion,
      metadata.name,
    ]),
    [["example.com/v2", "l2"]],
  );
});

test("the garbage collector uses the preferred version and retries while the webhook fails", async () => {
  const owner = await ok("POST", path("v1"), target("v1", "owner", { hostPort: "o:1" }));
  const ownerReferences = [{ apiVersion: "example.com/v2", kind: "Target", name: "owner", uid: owner.metadata.uid }];
  await ok(
    "POST",
    path("v1"),
    target("v1", "owned", { hostPort: "o:2" }, { metadata: { name: "owned", ownerReferences } }),
  );
  reply = () => "";
  await ok("DELETE", path("v1", "/owner"), { propagationPolicy: "Foreground" });
  const failed = webhook.requests.length;
  await eventually("tried twice", async () => webhook.requests.length > failed + 1);
  for (const name of ["/owner", "/owned"]) await ok("GET", path("v1", name));
  reply = good;
  await eventually(
    "collected",
    async () =>
      (await send("GET", path("v1", "/owner"))).status === 404 &&
      (await send("GET", path("v1", "/owned"))).status === 404,
  );
});

const namespacedPath = (at: string, rest = ""): string => path(at, rest).replace("/default/", "/going/");

test("a namespace is deleted at the preferred version and reports the webhook's failure once", async () => {
  await ok("POST", "/api/v1/namespaces", { metadata: { name: "going" } });
  for (const name of ["a", "b"]) await ok("POST", namespacedPath("v1"), target("v1", name, { hostPort: "n:1" }));
  await ok("GET", namespacedPath("v2")); // Upstream's cache converts without a request.
  reply = () => (response) => response.writeHead(500, { "content-type": "text/plain" }).end("broken");
  await ok("DELETE", "/api/v1/namespaces/going");
  const conditions = async (): Promise<Json> =>
    ((await ok("GET", "/api/v1/namespaces/going")).status.conditions ?? []).map(
      ({ type, status, reason, message }: Json) => [type, status, reason, message],
    );
  await eventually("reported", async () => (await conditions()).length > 0);
  const why =
    'conversion webhook for example.com/v1, Kind=Target failed: an error on the server ("broken") has prevented the request from succeeding';
  assert.deepEqual(await conditions(), [
    ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
    [
      "NamespaceDeletionGroupVersionParsingFailure",
      "False",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ],
    [
      "NamespaceDeletionContentFailure",
      "True",
      "ContentDeletionFailed",
      `Failed to delete all resource types, 1 remaining: ${why}`,
    ],
    ["NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"],
    ["NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
  ]);
  assert.equal((await ok("GET", namespacedPath("v1"))).items.length, 2);
  reply = good;
  await eventually("deleted", async () => (await send("GET", "/api/v1/namespaces/going")).status === 404);
});

test("a write at the storage version drops managers whose version cannot be converted", async () => {
  await ok("PATCH", path("v2", "/forget?fieldManager=one"), target("v2", "forget", { host: "f", port: 1 }), applied);
  reply = () => "";
  const changed = await ok("PATCH", path("v1", "/forget"), { spec: { replicas: 1 } }, merge);
  assert.deepEqual([changed.spec, changed.metadata.managedFields], [{ hostPort: "f:1", replicas: 1 }, undefined]);
  const apply = await send(
    "PATCH",
    path("v1", "/b?fieldManager=two&force=true"),
    target("v1", "b", { replicas: 2 }),
    applied,
  );
  assert.equal(apply.status, 200); // No manager uses another version.
});

test("a field that the webhook adds and no schema declares is pruned from objects, and fails the managers of another version", async () => {
  await ok("PATCH", path("v2", "/more?fieldManager=one"), target("v2", "more", { host: "f", port: 1 }), applied);
  reply = (request) =>
    answerOf(request, (objects) => objects.map((object) => ({ ...object, spec: { ...object.spec, unknown: 1 } })));
  // As a kube-apiserver 1.36.0 answers.
  const at = path("v1", "/more?fieldManager=two&force=true");
  const apply = await send("PATCH", at, target("v1", "more", { replicas: 2 }), applied);
  assert.deepEqual([apply.status, apply.body.message], [500, ".spec.unknown: field not declared in schema"]);
  const dry = await ok("POST", `${path("v2")}?dryRun=All`, target("v2", "other", { host: "f", port: 1 }));
  assert.deepEqual(dry.spec, { host: "f", port: 1 });
  const changed = await ok("PATCH", path("v1", "/more"), { spec: { replicas: 3 } }, merge);
  assert.deepEqual([changed.spec, changed.metadata.managedFields], [{ hostPort: "f:1", replicas: 3 }, undefined]);
  assert.deepEqual((await ok("GET", path("v2", "/more"))).spec, { host: "f", port: 1, replicas: 3 });
});

test("a webhook is called by service, with v1beta1, and after the storage version changed", async () => {
  await ok("POST", path("v1"), target("v1", "l0", { hostPort: "l:0" }));
  const definition = await ok("GET", `${definitions}/targets.example.com`);
  const caBundle = Buffer.from(webhook.ca).toString("base64");
  const service = { name: "conv", namespace: "hooks", path: "/by-service" };
  const { versions } = definitionOf({}, "v2").spec;
  definition.spec.conversion = {
    strategy: "Webhook",
    webhook: { clientConfig: { service, caBundle }, conversionReviewVersions: ["v1beta1"] },
  };
  definition.spec.versions = versions;
  const updated = await ok("PUT", `${definitions}/targets.example.com`, definition);
  assert.deepEqual(updated.status.storedVersions, ["v1", "v2"]);
  await eventually("called by service", async () => {
    await send("GET", path("v2", "/a"));
    return webhook.requests.at(-1)?.path === "/by-service?timeout=30s";
  });
  assert.equal(webhook.requests.at(-1)?.headers.host, "conv.hooks.svc:443");
  const review = webhook.requests.at(-1)?.body;
  assert.deepEqual(
    [review.apiVersion, review.request.desiredAPIVersion],
    ["apiextensions.k8s.io/v1beta1", "example.com/v2"],
  );
  const before = webhook.requests.length;
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "i:82", replicas: 3 });
  assert.equal(webhook.requests.length, before); // v1 needs no conversion: the object is still stored at v1.
  reply = () => "";
  assert.equal((await send("GET", path("v2", "/a"))).status, 500);
  assert.equal((await send("PATCH", path("v2", "/l0"), { spec: { port: 1 } }, merge)).status, 500);
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "i:82", replicas: 3 });
  reply = good;
  assert.deepEqual((await ok("GET", path("v2", "/a"))).spec, { host: "i", port: 82, replicas: 3 });
  assert.deepEqual((await ok("PATCH", path("v2", "/a"), { spec: { port: 83 } }, merge)).spec, {
    host: "i",
    port: 83,
    replicas: 3,
  });
  const now = webhook.requests.length;
  assert.deepEqual((await ok("GET", path("v2", "/a"))).spec, { host: "i", port: 83, replicas: 3 });
  assert.equal(webhook.requests.length, now); // The object is now stored at v2.
  assert.deepEqual((await ok("GET", path("v1", "/a"))).spec, { hostPort: "i:83", replicas: 3 });
  // Damaged answers of the webhook may have removed the spec of an object above.
  const both = await ok("GET", path("v2"));
  assert.ok(
    both.items.length > 1 &&
      both.items.every(({ apiVersion, spec }: Json) => apiVersion === "example.com/v2" && spec?.hostPort === undefined),
  );
});

const kubectl = kubectls().at(-1);
const kubectlRows: [args: string, output: RegExp][] = [
  ["get targets.v1.example.com k -o jsonpath={.apiVersion}{.spec}", /^example\.com\/v1\{"hostPort":"k:7"\}$/],
  ["get targets.v2.example.com k", /^NAME +HOST\nk +k$/],
  ["scale targets.v2.example.com k --replicas=3", /^target\.example\.com\/k scaled$/],
  ["label targets.v2.example.com k by=kubectl", /^target\.example\.com\/k labeled$/],
  ["get targets.v1.example.com -l by=kubectl -o jsonpath={.items[*].spec}", /^\{"hostPort":"k:7","replicas":3\}$/],
  ["delete targets.v1.example.com k", /^target\.example\.com "k" deleted/],
];
for (const [args, output] of kubectlRows) {
  test(`kubectl works at each version: ${args}`, { skip: skipWithout("kubectl") }, async () => {
    if (args === kubectlRows[0]?.[0]) await ok("POST", path("v2"), target("v2", "k", { host: "k", port: 7 }));
    const run = await runKubectl(kubectl as string, args.split(" "), {
      directory: server.directory,
      kubeconfigPath: server.kubeconfigPath,
    });
    assert.match(run.output, output);
  });
}

test("metrics count conversions and measure their duration", async () => {
  const { text: metrics } = await send("GET", "/metrics");
  assert.match(metrics, /^apiserver_conversion_webhook_request_total\{failure_type="",result="success"\} \d+$/m);
  for (const failure of ["call", "malformed_response", "partial_response", "invalid_converted_object"])
    assert.match(
      metrics,
      new RegExp(
        `^apiserver_conversion_webhook_request_total\\{failure_type="conversion_webhook_${failure}_failure",result="failure"\\} \\d+$`,
        "m",
      ),
    );
  assert.match(metrics, /^apiserver_conversion_webhook_duration_seconds_bucket\{.*le="60"\} \d+$/m);
  assert.match(
    metrics,
    /^apiserver_crd_conversion_webhook_duration_seconds_count\{crd_name="targets\.example\.com",from_version="v1",succeeded="true",to_version="v2"\} \d+$/m,
  );
});

test("the deletion of a definition waits for its webhook without delaying other definitions", async () => {
  await ok("POST", path("v1"), target("v1", "last", { hostPort: "l:1" }));
  const definition = await ok("GET", `${definitions}/targets.example.com`);
  definition.spec.versions = definitionOf({}, "v1").spec.versions; // Objects stored at v2 must be converted now.
  await ok("PUT", `${definitions}/targets.example.com`, definition);
  await eventually("stored as v1", async () => {
    const before = webhook.requests.length;
    await ok("POST", `${path("v1")}?dryRun=All`, target("v1", "probe", { hostPort: "p:1" }));
    return webhook.requests.length === before;
  });
  const held: (() => void)[] = [];
  reply = () => (response) =>
    void held.push(() => response.writeHead(500, { "content-type": "text/plain" }).end("broken"));
  await ok("DELETE", `${definitions}/targets.example.com`);
  await eventually("called", async () => held.length > 0);
  const other = structuredClone(definitionOf({ strategy: "None" })) as Json;
  other.metadata.name = "others.example.com";
  other.spec.names = { plural: "others", kind: "Other" };
  await ok("POST", definitions, other);
  await eventually(
    "the other one is served",
    async () => (await send("GET", "/apis/example.com/v1/others")).status === 200,
  );
  reply = () => (response) => response.writeHead(500, { "content-type": "text/plain" }).end("broken");
  for (const release of held) release();
  const terminating = async (): Promise<Json> =>
    (await ok("GET", `${definitions}/targets.example.com`)).status.conditions.find(
      ({ type }: Json) => type === "Terminating",
    );
  let why = "";
  await eventually("failed", async () => {
    const { reason, message } = await terminating();
    why = message;
    return reason === "InstanceDeletionFailed";
  });
  assert.match(
    why,
    /^could not (?:list instances: storage is \(re\)initializing: failed to list example\.com\/v1, Kind=Target|issue all deletes): conversion webhook /,
  );
  reply = good;
  await eventually("deleted", async () => (await send("GET", `${definitions}/targets.example.com`)).status === 404);
});
