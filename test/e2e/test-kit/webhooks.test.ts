/** Webhooks of tests, which the server calls. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import {
  type AdmissionRequest,
  configMap,
  namespace,
  startTestServer,
  type TestServer,
  type TestWebhook,
  type TimelineReview,
  type WebhookHandler,
  type WebhookSpec,
} from "../../../src/testing/index.ts";
import { quietControllers } from "../../support/start-test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const rules = [{ resources: ["configmaps"] }];

let server: TestServer;
const added: TestWebhook[] = [];
before(async () => {
  server = await startTestServer({ controllers: quietControllers });
});
afterEach(async () => {
  for (const webhook of added.splice(0)) await webhook.remove();
});
after(() => server.close());

async function add<S extends WebhookSpec>(spec: S, handler: WebhookHandler<S>): Promise<TestWebhook> {
  const webhook = await server.webhook(spec, handler);
  added.push(webhook);
  return webhook;
}

let count = 0;
const create = async (fields: object = {}, path = maps) => {
  const response = await server.fetch(path, { method: "POST", body: configMap(`map-${count++}`, fields) });
  return { status: response.status, warning: response.headers.get("warning"), body: await response.json() };
};

describe("admission webhooks", () => {
  test("a validating webhook sees requests, and denies some", async () => {
    const seen: AdmissionRequest[] = [];
    const webhook = await add({ validating: { name: "no.bad.example.com", rules } }, (request) => {
      seen.push(request);
      return request.object.data?.color === "bad" ? { denied: "a bad color" } : { warnings: ["careful"] };
    });
    const good = await create({ data: { color: "good" } });
    assert.deepEqual([good.status, good.warning], [201, '299 - "careful"']);
    const bad = await create({ data: { color: "bad" } });
    assert.equal(bad.status, 403);
    assert.equal(bad.body.message, 'admission webhook "no.bad.example.com" denied the request: a bad color');
    assert.deepEqual(
      seen.map(({ operation, namespace: of, userInfo }) => [operation, of, userInfo.username]),
      Array.from({ length: 2 }, () => ["CREATE", "default", "kubernetes-admin"]),
    );
    await webhook.remove();
    await webhook.remove();
    assert.equal((await create({ data: { color: "bad" } })).status, 201);
    assert.equal(seen.length, 2);
  });

  test("a denial has a code and a reason", async () => {
    await add({ validating: { rules } }, () => ({ denied: "later", code: 429, reason: "TooManyRequests" }));
    const { status, body } = await create();
    assert.deepEqual([status, body.reason], [429, "TooManyRequests"]);
    assert.match(
      body.message,
      /^admission webhook "test-webhook-[\da-f]{8}\.testing\.coxswain\.dev" denied the request: later$/,
    );
  });

  test("a mutating webhook returns the changed object, or a patch", async () => {
    await add({ mutating: { rules } }, async ({ object }) => {
      object.data = { ...object.data, added: "yes" };
      delete object.data.removed;
      delete object.metadata.annotations["example.com/removed"];
      return { object };
    });
    await add({ mutating: { rules } }, () => ({ patch: [{ op: "add", path: "/metadata/labels", value: { a: "b" } }] }));
    const annotations = { "example.com/removed": "1", "example.com/kept": "2" };
    const { body } = await create({ data: { kept: "1", removed: "2" }, metadata: { annotations } });
    const { labels, annotations: left } = body.metadata;
    assert.deepEqual(body.data, { added: "yes", kept: "1" });
    assert.deepEqual([labels, left], [{ a: "b" }, { "example.com/kept": "2" }]);
  });

  test("a handler that throws fails the call, and failurePolicy decides", async () => {
    const fails = (): never => {
      throw new Error("out of order");
    };
    const webhook = await add({ validating: { name: "a.b.c", rules } }, fails);
    const { status, body } = await create();
    assert.equal(status, 500);
    assert.match(body.message, /failed calling webhook "a\.b\.c": .*out of order/);
    await webhook.remove();
    await add({ validating: { rules, failurePolicy: "Ignore" } }, fails);
    assert.equal((await create()).status, 201);
  });

  test("a validating webhook cannot change the object, and an answer is an object", async () => {
    const webhook = await add({ validating: { rules } }, ({ object }) => ({ object }));
    assert.match((await create()).body.message, /a validating webhook cannot change the object/);
    await webhook.remove();
    await add({ validating: { rules } }, (() => "no") as never);
    assert.match((await create()).body.message, /the handler of a webhook must return an object/);
  });

  test("a webhook of one namespace is not called for others", async () => {
    await server.fetch("/api/v1/namespaces", { method: "POST", body: namespace("other") });
    await add({ validating: { namespace: "other", rules } }, () => ({ denied: "no" }));
    assert.equal((await create()).status, 201);
    assert.equal((await create({}, "/api/v1/namespaces/other/configmaps")).status, 403);
  });

  test("each review is in the timeline, without messages about Secrets", async () => {
    await add(
      { validating: { name: "deny.all.example.com", rules: [{ resources: ["configmaps", "secrets"] }] } },
      () => ({
        denied: "the value is hunter2",
      }),
    );
    const since = server.timeline.mark();
    await create();
    await server.fetch("/api/v1/namespaces/default/secrets", { method: "POST", body: { metadata: { name: "s" } } });
    const entries = server.timeline.entries({ since });
    const reviews = entries.filter((entry): entry is TimelineReview => entry.kind === "review");
    assert.deepEqual(
      reviews.map(({ type, webhook, operation, resource, namespace: of, outcome, message }) => [
        ...[type, webhook, operation, resource, of, outcome, message],
      ]),
      [
        [
          ...["validating", "deny.all.example.com", "CREATE", "configmaps", "default", "denied"],
          'admission webhook "deny.all.example.com" denied the request: the value is hunter2',
        ],
        ["validating", "deny.all.example.com", "CREATE", "secrets", "default", "denied", ""],
      ],
    );
    const text = server.timeline.format({ since });
    assert.match(
      text,
      /^[\d:.]+ {3}validating webhook deny\.all\.example\.com: CREATE configmaps default\/map-\d+ → denied \(admission webhook .* hunter2\) \d+ ms$/m,
    );
  });

  const wrong: [spec: object, message: RegExp][] = [
    [{}, /^webhook: must have one of the fields validating, mutating, conversion$/],
    [{ validating: { rules }, mutating: { rules } }, /^webhook: must have one of the fields/],
    [{ validating: {} }, /^validating\.rules: must be a list of rules/],
    [{ validating: { rules, clientConfig: {} } }, /^validating\.clientConfig: is set by the test server$/],
    [{ mutating: { rules, namespace: "a", namespaceSelector: {} } }, /^mutating\.namespace: cannot be set together/],
    [{ conversion: { definition: "" } }, /^conversion\.definition: must be the name/],
    [
      { conversion: { definition: "a.b", url: "x" } },
      /^conversion\.url: is not known: the fields are definition, conv/,
    ],
    [{ validating: { rules, failurePolity: "Ignore" } }, /unknown field "webhooks\[0\]\.failurePolity"/],
    [{ validating: { rules, name: "short" } }, /webhooks\[0\]\.name: Invalid value: "short"/],
    [{ conversion: { definition: "none.example.com" } }, /customresourcedefinitions.* "none\.example\.com" not found/],
  ];
  for (const [spec, message] of wrong) {
    test(`rejects ${JSON.stringify(spec)}`, async () => {
      await assert.rejects(server.webhook(spec as never, (() => undefined) as never), { message });
    });
  }
});

test("a server closes while a webhook does not answer", async () => {
  const hanging = await startTestServer({ controllers: quietControllers });
  const called = Promise.withResolvers<void>();
  await hanging.webhook({ validating: { rules, timeoutSeconds: 30 } }, () => {
    called.resolve();
    return new Promise(() => {});
  });
  const creation = hanging.fetch(maps, { method: "POST", body: configMap("never") });
  await called.promise;
  await hanging.close();
  assert.equal((await creation).status, 500);
});

describe("conversion webhooks", () => {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "gauges.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "gauges", kind: "Gauge" },
      versions: [
        { name: "v1", served: true, storage: true, schema },
        { name: "v2", served: true, storage: false, schema },
      ],
    },
  };
  const gauges = (version: string): string => `/apis/example.com/${version}/namespaces/default/gauges`;
  const read = async (version: string) => (await server.fetch(`${gauges(version)}/a`)).json();

  test("converts objects, until it is removed", async () => {
    const installed = await server.install([
      definition,
      { apiVersion: "example.com/v1", kind: "Gauge", metadata: { name: "a" }, spec: { height: 3 } },
    ]);
    const since = server.timeline.mark();
    const webhook = await add({ conversion: { definition: "gauges.example.com" } }, (object, version) => {
      const { spec, ...rest } = object;
      return version === "example.com/v2"
        ? { ...rest, spec: { tall: spec.height } }
        : { ...rest, spec: { height: spec.tall } };
    });
    assert.deepEqual([webhook.name, webhook.kind], ["gauges.example.com", "CustomResourceDefinition"]);
    assert.deepEqual((await read("v2")).spec, { tall: 3 });
    await assert.rejects(
      server.webhook({ conversion: { definition: "gauges.example.com" } }, (object) => object),
      { message: "conversion.definition: has a webhook already" },
    );
    const reviews = server.timeline.entries({ since }).filter(({ kind }) => kind === "review") as TimelineReview[];
    assert.deepEqual(
      reviews.map(({ type, configuration, operation, outcome }) => [type, configuration, operation, outcome]),
      [["conversion", "gauges.example.com", "v1 → v2", "converted"]],
    );
    await webhook.remove();
    assert.deepEqual((await read("v2")).spec, { height: 3 });
    await installed.remove();
  });

  test("shows the message of a handler that throws", async () => {
    const installed = await server.install([
      definition,
      { apiVersion: "example.com/v1", kind: "Gauge", metadata: { name: "a" } },
    ]);
    await add({ conversion: { definition: "gauges.example.com" } }, () => {
      throw new Error("not convertible");
    });
    assert.match((await read("v2")).message, /not convertible/);
    for (const webhook of added.splice(0)) await webhook.remove();
    await installed.remove();
  });
});
