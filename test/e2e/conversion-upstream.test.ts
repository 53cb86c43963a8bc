/**
 * Conversions by a webhook that succeeds or fails: this server and upstream's apiextensions server,
 * which call the same webhook, answer the same requests equally. Runs with COXSWAIN_TEST_FULL=1 if
 * Go is installed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WatchEvent } from "../support/http2-client.ts";
import { type Difference, jsonDifferences } from "../support/json-differences.ts";
import { skipWithout } from "../support/needs.ts";
import { type Answer, type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually, until } from "../support/until.ts";
import { startUpstreamDefinitions, type UpstreamServer, upstreamMissing } from "../support/upstream-definitions.ts";
import { http2Watches } from "../support/watch-connection.ts";
import {
  startWebhookServer,
  type WebhookReply,
  type WebhookRequest,
  type WebhookServer,
} from "../support/webhook-server.ts";
import { answerOf, definitionOf, good, target } from "./conversion/targets.ts";
import { comparable } from "./real-definitions/twins.ts";

const missing = skipWithout("full", "go") || upstreamMissing();
type Reply = (request: WebhookRequest) => WebhookReply;

let server: TestServer | undefined;
let upstream: UpstreamServer | undefined;
let webhook: WebhookServer | undefined;
let clients: readonly RawClient[] = [];
let reply: Reply = good;

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const path = (at: string, rest = ""): string => `/apis/example.com/${at}/namespaces/default/targets${rest}`;

before(async () => {
  if (missing !== undefined) return;
  webhook = await startWebhookServer((request) => reply(request));
  server = await startTestServer();
  upstream = await startUpstreamDefinitions();
  clients = [rawClient(server.kubeconfig), rawClient(upstream.kubeconfig)];
  const clientConfig = { url: `${webhook.url}/convert`, caBundle: Buffer.from(webhook.ca).toString("base64") };
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
  await Promise.all(
    clients.map((client) => client.send({ method: "POST", path: definitions, body: definitionOf(conversion) })),
  );
  await served(path("v2"));
});
after(async () => {
  for (const client of clients) client.close();
  await upstream?.close();
  await server?.close();
  await webhook?.close();
});

async function served(at: string): Promise<void> {
  for (const client of clients) {
    await eventually(`${at} is served`, async () => (await client.send({ path: at })).status === 200);
  }
}

/**
 * Replaces versions, uids and times, also those of reviews, which differ between servers. Go
 * reports the timeout of a call by one of two messages, depending on which of two timers fires
 * first.
 */
function shown(answer: Answer): unknown {
  return JSON.parse(
    JSON.stringify(comparable(answer))
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
      .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"RV"')
      .replace(
        /(?:context deadline exceeded|net\/http: request canceled) \(Client\.Timeout exceeded while awaiting headers\)/,
        "context deadline exceeded",
      )
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME"),
  );
}

const merge = { "content-type": "application/merge-patch+json" };
const applied = { "content-type": "application/apply-patch+yaml" };
const labelled =
  (reviewed: object): Reply =>
  (request) =>
    answerOf(request, (objects) => objects.map((one) => ({ ...one, metadata: { ...one.metadata, ...reviewed } })));

type Row = readonly [what: string, request: RawRequest, reply?: Reply];
const post = (at: string, body: object, query = ""): RawRequest => ({
  method: "POST",
  path: `${path(at)}${query}`,
  body,
});
const patched = (at: string, rest: string, body: object, headers: Record<string, string> = merge): RawRequest => ({
  method: "PATCH",
  path: path(at, rest),
  headers,
  body,
});
const get = (at: string, rest = ""): RawRequest => ({ path: path(at, rest) });
/** Adds a label to objects with port 2. */
const relabelled: Reply = (request) =>
  answerOf(request, (objects) =>
    objects.map((one) =>
      one.spec.port === 2 ? { ...one, metadata: { ...one.metadata, labels: { by: "webhook" } } } : one,
    ),
  );
const failure: Reply = (request) =>
  answerOf(request, () => [], { result: { status: "Failure", message: "not today" } });

/** Sent in this order to both servers. */
const rows: readonly Row[] = [
  ["create at the storage version", post("v1", target("v1", "a", { hostPort: "a:1" }))],
  ["read at the other version", get("v2", "/a")],
  ["create at the other version", post("v2", target("v2", "b", { host: "b", port: 2, other: 1 }))],
  ["read at the storage version", get("v1", "/b")],
  ["create with a body of another version", post("v2", target("v1", "x", { hostPort: "a:1" }))],
  ["create that the other version rejects", post("v2", target("v2", "x", { host: "b", port: 70_000 }))],
  ["list", get("v2")],
  ["list at the storage version", get("v1")],
  ["merge patch", patched("v2", "/a", { spec: { host: "c" } })],
  [
    "JSON patch",
    patched("v2", "/a", [{ op: "replace", path: "/spec/port", value: 3 }], {
      "content-type": "application/json-patch+json",
    }),
  ],
  ["patch at the storage version", patched("v1", "/a", { spec: { replicas: 2 } })],
  ["both versions afterwards: v1", get("v1", "/a")],
  ["both versions afterwards: v2", get("v2", "/a")],
  ["status", patched("v2", "/a/status", { status: { seen: "yes" }, spec: { host: "no" } })],
  ["scale", patched("v2", "/a/scale", { spec: { replicas: 4 } })],
  ["read the scale", get("v2", "/a/scale")],
  ["dry run", post("v2", target("v2", "dry", { host: "d", port: 1 }), "?dryRun=All")],
  ["dry run of a patch", patched("v2", "/a?dryRun=All", { spec: { host: "dry" } })],
  ["apply", patched("v2", "/s?fieldManager=one", target("v2", "s", { host: "s", port: 1 }), applied)],
  ["apply at another version", patched("v1", "/s?fieldManager=two", target("v1", "s", { replicas: 1 }), applied)],
  [
    "a conflict across versions",
    patched("v1", "/s?fieldManager=three", target("v1", "s", { hostPort: "t:2" }), applied),
  ],
  ["forced", patched("v1", "/s?fieldManager=three&force=true", target("v1", "s", { hostPort: "t:2" }), applied)],
  ["managed fields after a forced apply", get("v2", "/s")],
  ["apply that drops a field", patched("v1", "/s?fieldManager=two", target("v1", "s", {}), applied)],
  [
    "update at a version of a field that is managed at the other",
    patched("v2", "/s?fieldManager=four", { spec: { host: "u" } }),
  ],
  [
    "read with labels that the webhook sets",
    get("v2", "/a"),
    labelled({ labels: { by: "webhook" }, annotations: { x: "y" }, generation: 99, finalizers: ["x/y"] }),
  ],
  [
    "write with labels that the webhook sets",
    patched("v2", "/a", { spec: { host: "e" } }),
    labelled({ labels: { by: "webhook" } }),
  ],
  ["read of the stored labels", get("v1", "/a")],
  ["patch at the storage version afterwards", patched("v1", "/a", { spec: { replicas: 6 } })],
  ["failure: read", get("v2", "/a"), failure],
  ["failure: create", post("v2", target("v2", "y", { host: "y", port: 1 })), failure],
  ["failure: read of an object that was not created", get("v1", "/y"), failure],
  ["failure: patch", patched("v2", "/b", { spec: { host: "y" } }), failure],
  ["failure: apply", patched("v2", "/b?fieldManager=f", target("v2", "b", { host: "y" }), applied), failure],
  ["failure: status", patched("v2", "/b/status", { status: { seen: "y" } }), failure],
  ["failure: scale", patched("v2", "/b/scale", { spec: { replicas: 9 } }), failure],
  ["failure: read the scale", get("v2", "/b/scale"), failure],
  [
    "failure: update at the storage version of an object that is managed at the other",
    patched("v1", "/b", { spec: { replicas: 3 } }),
    failure,
  ],
  [
    "failure: apply at the storage version",
    patched("v1", "/s?fieldManager=five", target("v1", "s", { replicas: 9 }), applied),
    failure,
  ],
  ["failure: read at the storage version", get("v1", "/b"), failure],
  ["review with another uid", get("v2", "/a"), (request) => answerOf(request, undefined, { uid: "x" })],
  ["review without objects", get("v2", "/a"), (request) => answerOf(request, () => [])],
  [
    "review with an object that is not converted",
    get("v2", "/a"),
    (request) => answerOf(request, () => request.body.request.objects),
  ],
  ["review with a renamed object", get("v2", "/a"), labelled({ name: "z" })],
  ["review with another uid of the object", get("v2", "/a"), labelled({ uid: "z" })],
  ["review with invalid labels", get("v2", "/a"), labelled({ labels: { "a b": "c" } })],
  ["review that is not JSON", get("v2", "/a"), () => "garbage"],
  ["empty review", get("v2", "/a"), () => ""],
  [
    "review answered 503",
    get("v2", "/a"),
    () => (response) => response.writeHead(503, { "content-type": "text/plain" }).end("gone"),
  ],
  ["list by a label that the webhook sets", { path: `${path("v2")}?labelSelector=by%3Dwebhook` }],
  ["list by a field", { path: `${path("v2")}?fieldSelector=spec.host%3De` }],
  ["list by a field of the other version", { path: `${path("v1")}?fieldSelector=spec.host%3De` }],
  ["list as a Table", { path: path("v2"), headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } }],
  ["list again", get("v2")],
  ["delete", { method: "DELETE", path: path("v2", "/a") }],
  ["delete the collection", { method: "DELETE", path: path("v2") }],
  ["list after the deletion", get("v1")],
];

/** Sent after v2 has become the storage version. */
const movedRows: readonly Row[] = [
  ["moved: read at the old version", get("v1", "/m1")],
  ["moved: read at the new version", get("v2", "/m1")],
  ["moved: failure: read at the old version", get("v1", "/m1"), failure],
  ["moved: failure: read at the new version", get("v2", "/m1"), failure],
  ["moved: list at the new version", get("v2")],
  ["moved: list at the old version", get("v1")],
  ["moved: patch at the old version", patched("v1", "/m1", { spec: { replicas: 5 } })],
  ["moved: read of the patched object at the new version", get("v2", "/m1"), failure],
  ["moved: read of the patched object at the old version", get("v1", "/m1"), failure],
  ["moved: patch that changes nothing", patched("v2", "/m2", { spec: {} })],
  ["moved: status", patched("v2", "/m3/status", { status: { seen: "yes" } })],
  ["moved: apply", patched("v2", "/m3?fieldManager=one", target("v2", "m3", { host: "z", port: 9 }), applied)],
  [
    "moved: apply, forced",
    patched("v1", "/m3?fieldManager=two&force=true", target("v1", "m3", { hostPort: "y:8" }), applied),
  ],
  ["moved: patch that sets finalizers", patched("v1", "/m4", { metadata: { finalizers: ["x/y"] } })],
  ["moved: deletion that waits for finalizers", { method: "DELETE", path: path("v2", "/m4") }],
  ["moved: patch that removes finalizers", patched("v2", "/m4", { metadata: { finalizers: null } })],
  ["moved: read after the deletion", get("v1", "/m4")],
  ["webhook without an answer", get("v1", "/m3"), () => () => {}],
];

async function difference(request: RawRequest, answering: Reply): Promise<readonly Difference[]> {
  const answers: unknown[] = [];
  for (const client of clients) {
    reply = answering;
    answers.push(shown(await client.send(request)));
    reply = good;
  }
  return jsonDifferences(answers[0], answers[1]);
}

function check([what, request, answering = good]: Row): void {
  test(`answers as upstream: ${what}`, { skip: missing }, async () => {
    const compare = async (): Promise<void> => assert.deepEqual(await difference(request, answering), []);
    // Upstream's cache converts objects some time after a change, so a request is repeated while
    // its answers differ.
    if (request.method === undefined && answering === good) await until(compare);
    else await compare();
  });
}

for (const row of rows) check(row);

/** The selectors of watches, and the number of events. */
const watchRows: [what: string, query: string, events: number][] = [
  ["without a selector", "", 6],
  ["by a label", "&labelSelector=by%3Dwebhook", 5],
  ["by a field", "&fieldSelector=spec.host%3Dw", 5],
];

for (const [what, query, count] of watchRows) {
  test(`a watch shows the events of upstream: ${what}`, { skip: missing }, async () => {
    const seen: string[][] = [];
    for (const [index, client] of clients.entries()) {
      const connection = http2Watches((index === 0 ? server : upstream)?.kubeconfig as string);
      const events: WatchEvent[] = [];
      let ended = false;
      const end = (): void => {
        ended = true;
      };
      const { resourceVersion } = (await client.send(get("v2"))).body.metadata;
      connection.open(`${path("v2")}?watch=1&resourceVersion=${resourceVersion}${query}`, {
        event: (event) => events.push(event),
        end,
      });
      reply = relabelled;
      await client.send(post("v1", target("v1", "w", { hostPort: "w:1" })));
      for (const hostPort of ["w:2", "x:2", "x:1", "w:2"])
        await client.send(patched("v1", "/w", { spec: { hostPort } }));
      await client.send({ method: "DELETE", path: path("v1", "/w") });
      const converted = webhook?.requests.length ?? 0;
      reply = failure; // Events that are being converted wait, and their conversion is repeated.
      await client.send(post("v1", target("v1", "z", { hostPort: "w:2" })));
      await eventually("a conversion fails", () => (webhook?.requests.length ?? 0) > converted);
      reply = relabelled;
      await client.send({ method: "DELETE", path: path("v1", "/z") });
      await eventually("all events", () => ended || events.length >= count + 2);
      reply = good;
      connection.break();
      seen.push(
        events.map((event) =>
          JSON.stringify([
            event.type,
            (event.object as { spec?: unknown }).spec,
            (event.object as { message?: unknown }).message,
          ]),
        ),
      );
    }
    assert.deepEqual(seen[0], seen[1]);
  });
}

test("another version becomes the storage version", { skip: missing }, async () => {
  const name = `${definitions}/targets.example.com`;
  for (const client of clients) {
    for (const object of ["m1", "m2", "m3", "m4"])
      await client.send(post("v1", target("v1", object, { hostPort: `${object}:1` })));
    const { versions } = definitionOf({}, "v2").spec;
    const { body } = await client.send({ method: "PATCH", path: name, headers: merge, body: { spec: { versions } } });
    assert.deepEqual(body.status.storedVersions, ["v1", "v2"]);
    const before = webhook?.requests.length ?? 0;
    await eventually("the new version is served", async () => {
      const { status } = await client.send(get("v2", "/m1"));
      return status === 200 && (webhook?.requests.length ?? 0) > before;
    });
  }
});

for (const row of movedRows) check(row);
