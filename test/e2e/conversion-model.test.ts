/**
 * Writers and watchers at both versions, and a webhook that is slow and fails at random.
 * Guarantees: a watcher sees each change of an object once, in order, and its last state is the
 * stored one; an answered write is stored, and both versions agree.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { peerLatency } from "../support/peer-latency.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";
import { http2Watches } from "../support/watch-connection.ts";
import { startWebhookServer } from "../support/webhook-server.ts";
import { definitionOf, good, target } from "./conversion/targets.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Json = any;

const random = seededRandom(seed);
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 300 : 15;
const writers = 8;
const objects = 5;

const { server, client } = await startServerWithClient();
let fails = true;
const webhook = await startWebhookServer(async (request) => {
  await peerLatency(random(6));
  return fails && random(10) === 0 ? "garbage" : good(request);
});
after(() => webhook.close());

before(async () => {
  const clientConfig = { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") };
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
  await client.send({
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: definitionOf(conversion),
  });
  await eventually("served", async () => (await client.send({ path: path("v1") })).status === 200);
});

const path = (at: string, rest = ""): string => `/apis/example.com/${at}/namespaces/default/targets${rest}`;

/** @returns whether the write succeeded */
async function write(name: string, port: number): Promise<boolean> {
  const at = random(2) === 0 ? "v1" : "v2";
  const spec = at === "v1" ? { hostPort: `h:${port}` } : { host: "h", port };
  const headers = { "content-type": "application/merge-patch+json" };
  switch (random(6)) {
    case 0:
      return (await client.send({ method: "POST", path: path(at), body: target(at, name, spec) })).status === 201;
    case 1:
      return (await client.send({ method: "DELETE", path: path(at, `/${name}`) })).status === 200;
    default:
      return (
        (await client.send({ method: "PATCH", path: path(at, `/${name}`), headers, body: { spec } })).status === 200
      );
  }
}

interface Seen {
  readonly objects: Map<string, Json>;
  /** Violations of the guarantees. */
  readonly wrong: string[];
  last: number;
  over: boolean;
}

/** Checks an event of a watch and adds it to what the watch has seen. */
function follow(seen: Seen, at: string, { type, object }: Json): void {
  const { name, resourceVersion } = object.metadata ?? {};
  if (type === "ERROR") seen.wrong.push(object.message);
  if (object.apiVersion !== `example.com/${at}`) seen.wrong.push(`${object.apiVersion} at ${at}`);
  if (Number(resourceVersion) <= seen.last) seen.wrong.push(`${resourceVersion} after ${seen.last}`);
  seen.last = Number(resourceVersion);
  if ((type === "ADDED") === seen.objects.has(name))
    seen.wrong.push(`${type} of ${name}, which was ${seen.objects.has(name) ? "" : "not "}there`);
  if (type === "DELETED") seen.objects.delete(name);
  else seen.objects.set(name, object);
}

test(`watchers at both versions agree with the store under random writes and webhook failures (SEED=${seed})`, async () => {
  const connection = http2Watches(server.kubeconfig);
  const { resourceVersion } = (await client.send({ path: path("v1") })).body.metadata;
  const watchers = ["v1", "v2", "v2", "v2"].map((at) => {
    const seen: Seen = { objects: new Map(), wrong: [], last: 0, over: false };
    const end = (): void => {
      seen.over = true;
    };
    connection.open(`${path(at)}?watch=1&resourceVersion=${resourceVersion}`, {
      event: (event) => follow(seen, at, event),
      end,
    });
    return { at, seen };
  });
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const outcomes = await Promise.all(
      Array.from({ length: writers }, (_, index) => write(`o${random(objects)}`, round * writers + index)),
    );
    done += outcomes.filter((was) => was).length;
  }
  fails = false;
  assert.ok(done > 0);
  const list = async (at: string): Promise<Json[]> => (await client.send({ path: path(at) })).body.items;
  const stored = await list("v1");
  const converted = await list("v2");
  assert.deepEqual(
    converted.map(({ metadata, spec }) => [metadata.name, metadata.resourceVersion, `${spec.host}:${spec.port}`]),
    stored.map(({ metadata, spec }) => [metadata.name, metadata.resourceVersion, spec.hostPort]),
  );
  for (const { at, seen } of watchers) {
    const expected = new Map((at === "v1" ? stored : converted).map((object) => [object.metadata.name, object]));
    const isThere = (): boolean =>
      expected.size === seen.objects.size &&
      [...expected].every(
        ([name, { metadata }]) => seen.objects.get(name)?.metadata.resourceVersion === metadata.resourceVersion,
      );
    await eventually(`${at} has seen all objects: ${seen.wrong}`, () => seen.over || isThere());
    assert.deepEqual([seen.over, seen.wrong], [false, []]);
    for (const [name, object] of expected) assert.deepEqual(seen.objects.get(name), object);
  }
  connection.break();
});
