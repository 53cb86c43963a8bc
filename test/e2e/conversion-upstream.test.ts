/**
 * Conversions by webhook, good ones and bad ones: the same requests to this server and to upstream's own server of definitions, which ask the same webhook,
 * get the same answers. With COXSWAIN_TEST_FULL=1, and Go.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WatchEvent } from "../support/http2-client.ts";
import { type Difference, jsonDifferences } from "../support/json-differences.ts";
import { type Answer, type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
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

const missing = process.env.COXSWAIN_TEST_FULL === "1" ? upstreamMissing() : "needs COXSWAIN_TEST_FULL=1";
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
    for (let tries = 0; (await client.send({ path: at })).status !== 200; tries++) {
      assert.ok(tries < 500, `never served: ${at}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Versions, uids and times are each server's own, those of reviews too; Go has two clocks for the limit of a call, and tells which was first. */
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
/** Of port 2. */
const relabelled: Reply = (request) =>
  answerOf(request, (objects) =>
    objects.map((one) =>
      one.spec.port === 2 ? { ...one, metadata: { ...one.metadata, labels: { by: "webhook" } } } : one,
    ),
  );
const failure: Reply = (request) =>
  answerOf(request, () => [], { result: { status: "Failure", message: "not today" } });

/** In order: each goes on from what those before have left. */
const rows: readonly Row[] = [
  ["create at the version that is stored", post("v1", target("v1", "a", { hostPort: "a:1" }))],
  ["read at the other", get("v2", "/a")],
  ["create at the other version", post("v2", target("v2", "b", { host: "b", port: 2, other: 1 }))],
  ["read as it is stored", get("v1", "/b")],
  ["a body of another version", post("v2", target("v1", "x", { hostPort: "a:1" }))],
  ["refused by the other version", post("v2", target("v2", "x", { host: "b", port: 70_000 }))],
  ["list", get("v2")],
  ["list as it is stored", get("v1")],
  ["merge patch", patched("v2", "/a", { spec: { host: "c" } })],
  [
    "JSON patch",
    patched("v2", "/a", [{ op: "replace", path: "/spec/port", value: 3 }], {
      "content-type": "application/json-patch+json",
    }),
  ],
  ["patch as it is stored", patched("v1", "/a", { spec: { replicas: 2 } })],
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
  ["who manages it then", get("v2", "/s")],
  ["an apply that drops a field", patched("v1", "/s?fieldManager=two", target("v1", "s", {}), applied)],
  [
    "a manager of one version changed by an update of the other",
    patched("v2", "/s?fieldManager=four", { spec: { host: "u" } }),
  ],
  [
    "labels of the webhook's",
    get("v2", "/a"),
    labelled({ labels: { by: "webhook" }, annotations: { x: "y" }, generation: 99, finalizers: ["x/y"] }),
  ],
  [
    "a write with labels of the webhook's",
    patched("v2", "/a", { spec: { host: "e" } }),
    labelled({ labels: { by: "webhook" } }),
  ],
  ["what is stored then", get("v1", "/a")],
  ["what everyone sees again", patched("v1", "/a", { spec: { replicas: 6 } })],
  ["failure: read", get("v2", "/a"), failure],
  ["failure: create", post("v2", target("v2", "y", { host: "y", port: 1 })), failure],
  ["failure: it is not there", get("v1", "/y"), failure],
  ["failure: patch", patched("v2", "/b", { spec: { host: "y" } }), failure],
  ["failure: apply", patched("v2", "/b?fieldManager=f", target("v2", "b", { host: "y" }), applied), failure],
  ["failure: status", patched("v2", "/b/status", { status: { seen: "y" } }), failure],
  ["failure: scale", patched("v2", "/b/scale", { spec: { replicas: 9 } }), failure],
  ["failure: read the scale", get("v2", "/b/scale"), failure],
  [
    "failure: update as it is stored, where somebody manages the other version",
    patched("v1", "/b", { spec: { replicas: 3 } }),
    failure,
  ],
  [
    "failure: apply as it is stored",
    patched("v1", "/s?fieldManager=five", target("v1", "s", { replicas: 9 }), applied),
    failure,
  ],
  ["failure: what is stored", get("v1", "/b"), failure],
  ["another uid", get("v2", "/a"), (request) => answerOf(request, undefined, { uid: "x" })],
  ["no objects", get("v2", "/a"), (request) => answerOf(request, () => [])],
  ["not converted", get("v2", "/a"), (request) => answerOf(request, () => request.body.request.objects)],
  ["renamed", get("v2", "/a"), labelled({ name: "z" })],
  ["another uid of the object", get("v2", "/a"), labelled({ uid: "z" })],
  ["wrong labels", get("v2", "/a"), labelled({ labels: { "a b": "c" } })],
  ["garbage", get("v2", "/a"), () => "garbage"],
  ["nothing", get("v2", "/a"), () => ""],
  ["503", get("v2", "/a"), () => (response) => response.writeHead(503, { "content-type": "text/plain" }).end("gone")],
  ["by label", { path: `${path("v2")}?labelSelector=by%3Dwebhook` }],
  ["by field", { path: `${path("v2")}?fieldSelector=spec.host%3De` }],
  ["by a field of the other version", { path: `${path("v1")}?fieldSelector=spec.host%3De` }],
  ["a table", { path: path("v2"), headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } }],
  ["a list once more", get("v2")],
  ["delete", { method: "DELETE", path: path("v2", "/a") }],
  ["delete all", { method: "DELETE", path: path("v2") }],
  ["nothing is left", get("v1")],
];

/** After v2 has become the version that is stored. */
const movedRows: readonly Row[] = [
  ["moved: stored as it was before", get("v1", "/m1")],
  ["moved: what was stored before, at the new version", get("v2", "/m1")],
  ["moved: failure: as it was stored", get("v1", "/m1"), failure],
  ["moved: failure: at the new version", get("v2", "/m1"), failure],
  ["moved: list at the new version", get("v2")],
  ["moved: list at the old version", get("v1")],
  ["moved: a patch at the old version", patched("v1", "/m1", { spec: { replicas: 5 } })],
  ["moved: what is stored then", get("v2", "/m1"), failure],
  ["moved: and at the old version", get("v1", "/m1"), failure],
  ["moved: a patch that changes nothing", patched("v2", "/m2", { spec: {} })],
  ["moved: status", patched("v2", "/m3/status", { status: { seen: "yes" } })],
  ["moved: apply", patched("v2", "/m3?fieldManager=one", target("v2", "m3", { host: "z", port: 9 }), applied)],
  [
    "moved: apply, forced",
    patched("v1", "/m3?fieldManager=two&force=true", target("v1", "m3", { hostPort: "y:8" }), applied),
  ],
  ["moved: finalizers", patched("v1", "/m4", { metadata: { finalizers: ["x/y"] } })],
  ["moved: a deletion that waits", { method: "DELETE", path: path("v2", "/m4") }],
  ["moved: no finalizers", patched("v2", "/m4", { metadata: { finalizers: null } })],
  ["moved: gone", get("v1", "/m4")],
  ["no answer", get("v1", "/m3"), () => () => {}],
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
  test(what, { skip: missing }, async () => {
    let differences = await difference(request, answering);
    // Upstream's cache converts on its own, some time after an object has changed; it is asked again while it differs.
    for (
      let tries = 0;
      tries < 50 && differences.length > 0 && request.method === undefined && answering === good;
      tries++
    ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      differences = await difference(request, answering);
    }
    assert.deepEqual(differences, []);
  });
}

for (const row of rows) check(row);

/** What happens while a watch is open, and what it selects by. */
const watchRows: [what: string, query: string, events: number][] = [
  ["all", "", 6],
  ["by a label", "&labelSelector=by%3Dwebhook", 5],
  ["by a field", "&fieldSelector=spec.host%3Dw", 5],
];

for (const [what, query, count] of watchRows) {
  test(`a watch: ${what}`, { skip: missing }, async () => {
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
      reply = failure; // What is on its way waits, and is tried again.
      await client.send(post("v1", target("v1", "z", { hostPort: "w:2" })));
      await new Promise((resolve) => setTimeout(resolve, 50));
      reply = relabelled;
      await client.send({ method: "DELETE", path: path("v1", "/z") });
      await until("all events", () => ended || events.length >= count + 2);
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

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("another version becomes the one that is stored", { skip: missing }, async () => {
  const name = `${definitions}/targets.example.com`;
  for (const client of clients) {
    for (const object of ["m1", "m2", "m3", "m4"])
      await client.send(post("v1", target("v1", object, { hostPort: `${object}:1` })));
    const { versions } = definitionOf({}, "v2").spec;
    const { body } = await client.send({ method: "PATCH", path: name, headers: merge, body: { spec: { versions } } });
    assert.deepEqual(body.status.storedVersions, ["v1", "v2"]);
    const before = webhook?.requests.length ?? 0;
    for (
      let tries = 0;
      (webhook?.requests.length ?? 0) === before || (await client.send(get("v2", "/m1"))).status !== 200;
      tries++
    ) {
      assert.ok(tries < 500, "never served anew");
      await new Promise((resolve) => setTimeout(resolve, 20));
      await client.send(get("v2", "/m1"));
    }
  }
});

for (const row of movedRows) check(row);
