/**
 * The life of custom resources: a definition is created, used, changed and deleted. Compare
 * k8s.io/apiextensions-apiserver@v0.36.0/test/integration
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";
import { http2Watches } from "../support/watch-connection.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const widgets = "/apis/example.com/v1/namespaces/default/widgets";

const definition = (properties: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer", minimum: 0, default: 1 },
                  ports: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, port: { type: "integer" } },
                    },
                  },
                  ...properties,
                },
                "x-kubernetes-validations": [{ rule: "self.size < 100", message: "too large" }],
              },
              status: { type: "object", properties: { size: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
});

const widget = (name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec,
});

const { server, client } = await startServerWithClient();
const watches = http2Watches(server.kubeconfig);
after(() => watches.break());

const send = (
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> => client.send({ method, path, headers, ...(body !== undefined && { body }) });

function watchOf(path: string): { readonly first: Promise<string>; readonly ended: Promise<void> } {
  const first = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  watches.open(`${path}?watch=1`, {
    event: ({ type, object }) => first.resolve(`${type} ${(object as { metadata: { name: string } }).metadata.name}`),
    end: () => ended.resolve(),
  });
  return { first: first.promise, ended: ended.promise };
}

test("a definition from creation to deletion", async (t) => {
  await t.test("is established when its kind is served and discovered", async () => {
    assert.equal((await send("POST", definitions, definition())).status, 201);
    await until(async () => {
      const { body } = await send("GET", `${definitions}/widgets.example.com`);
      return body.status.conditions?.some(
        ({ type, status }: { type: string; status: string }) => type === "Established" && status === "True",
      );
    });
    const discovery = await send("GET", "/apis/example.com/v1");
    assert.deepEqual(discovery.body.resources.map(({ name }: { name: string }) => name).sort(), [
      "widgets",
      "widgets/scale",
      "widgets/status",
    ]);
  });

  await t.test("defaults and prunes objects", async () => {
    const created = await send("POST", widgets, { ...widget("a", { nope: 1 }), status: { size: 3 } });
    assert.equal(created.status, 201);
    assert.deepEqual(
      [created.body.spec, created.body.status, created.body.metadata.generation],
      [{ size: 1 }, undefined, 1],
    );
    const strict = await send("POST", `${widgets}?fieldValidation=Strict`, widget("b", { nope: 1 }));
    assert.equal(strict.status, 400);
    assert.match(strict.body.message, /strict decoding error: unknown field "spec.nope"/);
  });

  await t.test("validates objects by schema and by rules", async () => {
    const wrong = await send("POST", widgets, widget("b", { size: "x" }));
    assert.equal(wrong.status, 422);
    assert.match(
      wrong.body.message,
      /spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"/,
    );
    const large = await send("POST", widgets, widget("b", { size: 100 }));
    assert.match(large.body.message, /spec: Invalid value: "?(?:object)?"?:? ?too large|too large/);
  });

  await t.test("separates updates of spec, status and scale", async () => {
    const current = (await send("GET", `${widgets}/a`)).body;
    const updated = await send("PUT", `${widgets}/a`, { ...current, spec: { size: 5 }, status: { size: 9 } });
    assert.deepEqual(
      [updated.status, updated.body.spec, updated.body.status, updated.body.metadata.generation],
      [200, { size: 5 }, undefined, 2],
    );
    const status = await send("PUT", `${widgets}/a/status`, { ...updated.body, status: { size: 4 } });
    assert.deepEqual([status.status, status.body.status, status.body.metadata.generation], [200, { size: 4 }, 2]);
    const scale = await send("GET", `${widgets}/a/scale`);
    assert.deepEqual([scale.body.spec, scale.body.status], [{ replicas: 5 }, { replicas: 4 }]);
    const { uid } = scale.body.metadata;
    const another = await send("PUT", `${widgets}/a/scale`, {
      ...scale.body,
      metadata: { ...scale.body.metadata, uid: "another" },
    });
    const wrong = `Precondition failed: UID in precondition: another, UID in object meta: ${uid}`;
    const message = `StorageError: invalid object, Code: 4, Key: /registry/example.com/widgets/default/a, ResourceVersion: 0, AdditionalErrorMsg: ${wrong}`;
    assert.deepEqual(
      [another.status, another.body.message],
      [409, `Operation cannot be fulfilled on widgets.example.com "a": ${message}`],
    );
  });

  await t.test("writes the scale as upstream, whose scheme of custom resources has no Scale", async () => {
    const created = await send("POST", `${widgets}?fieldManager=m`, widget("scaled", { size: 0 }));
    const scale = (spec: unknown) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "scaled" },
      spec,
    });
    const unconvertible = "request to convert CR to an invalid group/version: autoscaling/v1";
    const unknownType = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"';
    const { resourceVersion } = created.body.metadata;
    const rows: readonly (readonly [type: string, body: unknown, status: number, result: unknown])[] = [
      ["apply", scale({ replicas: 0 }), 409, 'conflict with "m" using autoscaling/v1: .spec.replicas'],
      [
        "forced",
        scale({ replicas: 0 }),
        500,
        `(/scaled; autoscaling/v1, Kind=Scale) to proper version: ${unconvertible}`,
      ],
      ["merge", { metadata: { resourceVersion: "", uid: "another" }, spec: { replicas: 3 } }, 200, { replicas: 3 }],
      [
        "merge",
        { metadata: { resourceVersion } },
        409,
        "please apply your changes to the latest version and try again",
      ],
      ["merge", { spec: { replicas: null } }, 200, {}],
      ["PUT", scale({ replicas: "3" }), 400, unknownType],
      ["PUT", scale({ replicas: 2, odd: 1 }), 400, unknownType],
      ["PUT", { ...scale({}), apiVersion: "v1" }, 400, unknownType],
      ["PUT", scale({ replicas: 2 }), 200, { replicas: 2 }],
    ];
    const paths: Readonly<Record<string, string>> = { forced: "&force=true", PUT: "&fieldValidation=Strict" };
    for (const [type, body, status, result] of rows) {
      const contentType = { merge: "application/merge-patch+json", PUT: "application/json" }[type];
      const path = `${widgets}/scaled/scale?fieldManager=a${paths[type] ?? ""}`;
      const answer = await send(type === "PUT" ? "PUT" : "PATCH", path, body as object, {
        "content-type": contentType ?? "application/apply-patch+yaml",
      });
      assert.equal(answer.status, status, JSON.stringify([type, body, answer.body]));
      if (typeof result === "string") assert.ok(answer.body.message.endsWith(result), answer.body.message);
      else assert.deepEqual(answer.body.spec, result);
    }
    await send("DELETE", `${widgets}/scaled`);
  });

  await t.test("accepts merge patches and applies, and rejects strategic merge patches", async () => {
    const merge = await send(
      "PATCH",
      `${widgets}/a`,
      { spec: { size: 6 } },
      { "content-type": "application/merge-patch+json" },
    );
    assert.deepEqual([merge.status, merge.body.spec.size], [200, 6]);
    const strategic = await send(
      "PATCH",
      `${widgets}/a`,
      {},
      { "content-type": "application/strategic-merge-patch+json" },
    );
    assert.equal(strategic.status, 415);
    const apply = (manager: string, ports: object[]) =>
      send("PATCH", `${widgets}/applied?fieldManager=${manager}`, widget("applied", { ports }), {
        "content-type": "application/apply-patch+yaml",
      });
    assert.equal((await apply("one", [{ name: "http", port: 80 }])).status, 201);
    const second = await apply("two", [{ name: "https", port: 443 }]);
    assert.deepEqual(second.body.spec.ports, [
      { name: "http", port: 80 },
      { name: "https", port: 443 },
    ]);
    assert.equal((await apply("two", [{ name: "http", port: 81 }])).status, 409);
  });

  await t.test("rejects patches that change the kind", async () => {
    const patch = { apiVersion: "example.com/v2", kind: "Gadget" };
    const { status, body } = await send("PATCH", `${widgets}/a`, patch, {
      "content-type": "application/merge-patch+json",
    });
    const wrong =
      'kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid value: "example.com/v2": must be example.com/v1';
    assert.deepEqual([status, body.message], [422, `Gadget.example.com "a" is invalid: [${wrong}]`]);
    const rows: readonly (readonly [patch: object, status: number, why: RegExp])[] = [
      [
        { kind: null },
        422,
        /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":.*: Object 'Kind' is missing in '\{"apiVersion":.*\}'$/,
      ],
      [
        { apiVersion: null },
        500,
        /^Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'$/,
      ],
      [
        [{ op: "add", path: "/apiVersion", value: null }],
        422,
        /: \.apiVersion accessor error: <nil> is of the type <nil>, expected string$/,
      ],
      [
        { apiVersion: "", metadata: { name: 5 } },
        422,
        /: json: cannot unmarshal number into Go struct field ObjectMeta\.name of type string$/,
      ],
      [{ KIND: "Gadget" }, 200, /^undefined$/],
    ];
    for (const [change, code, why] of rows) {
      const type = `application/${Array.isArray(change) ? "json" : "merge"}-patch+json`;
      const answer = await send("PATCH", `${widgets}/a?dryRun=All`, change, { "content-type": type });
      assert.equal(answer.status, code, JSON.stringify(change));
      assert.match(String(answer.body.message), why);
    }
    const twice = '{"apiVersion":"example.com/v1","kind":[],"kind":"Widget","metadata":{"name":"twice"}}';
    assert.match(
      (await send("POST", `${widgets}?dryRun=All`, twice)).body.message,
      /json parse error: json: cannot unmarshal array into Go struct field \.kind/,
    );
  });

  await t.test("rejects bodies without a kind", async () => {
    const whole = (body: string) =>
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '${body}' (${body})`;
    const short = (kind: string, version: string, body: string) =>
      `${kind} in version "${version}" cannot be handled as a Widget: Object 'Kind' is missing in '${body}'`;
    const nothing =
      'A in version "" cannot be handled as a Widget: .apiVersion accessor error: <nil> is of the type <nil>, expected string';
    const rows: readonly (readonly [level: string, body: string, why: string, type?: string])[] = [
      ["Warn", '{"KIND":"A"}', whole('{"KIND":"A"}')],
      ["Strict", '{"kind":""}', whole('{"kind":""}')],
      ["Ignore", '{"kind":""}', short("Widget", "v1", '{"kind":""}')],
      ["Ignore", "null", short("Widget", "v1", "null")],
      ["Ignore", '{"KIND":"A","APIVERSION":"b/v7"}', short("A", "v7", '{"KIND":"A","APIVERSION":"b/v7"}')],
      ["Warn", '{"kind":"A","apiVersion":null}', nothing],
      ["Ignore", '{"kind":"A","apiVersion":null}', nothing],
      ["Ignore", "b: 1\na: <\n", short("Widget", "v1", '{"a":"\\u003c","b":1}'), "application/yaml"],
    ];
    for (const [level, body, why, type = "application/json"] of rows) {
      const answer = await send("POST", `${widgets}?fieldValidation=${level}`, body, { "content-type": type });
      assert.deepEqual([answer.status, answer.body.message], [400, why]);
    }
    for (const level of ["Warn", "Ignore"]) {
      const { body } = await send("POST", `${widgets}?fieldValidation=${level}`, '{"APIVERSION":"a/b/c"}');
      assert.match(body.message, /: unexpected GroupVersion string: a\/b\/c \(/);
    }
  });

  await t.test("reports only unknown fields of metadata in an object of another kind", async () => {
    const body =
      '{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a","b":1},"spec":{"nope":1,"nope":2},"more":1}';
    const want = /strict decoding error: duplicate field "spec.nope", unknown field "metadata.b"$/;
    const posted = await send("POST", `${widgets}?fieldValidation=Strict`, body);
    assert.deepEqual([posted.status, want.test(posted.body.message)], [400, true], posted.body.message);
    assert.match(posted.body.message, /^Gadget in version "v1" cannot be handled as a Gadget: /);
    for (const type of [body, body.replace("example.com", "other.example.com").replace("Gadget", "Widget")]) {
      const patched = await send("PATCH", `${widgets}/a?fieldValidation=Strict`, type, {
        "content-type": "application/merge-patch+json",
      });
      assert.deepEqual([patched.status, want.test(patched.body.message)], [422, true], patched.body.message);
    }
  });

  await t.test("items of a list have a kind", async () => {
    const { body } = await send("GET", widgets);
    assert.equal(body.kind, "WidgetList");
    assert.deepEqual(
      body.items.map(({ kind, metadata }: { kind: string; metadata: { name: string } }) => [kind, metadata.name]),
      [
        ["Widget", "a"],
        ["Widget", "applied"],
      ],
    );
  });

  await t.test("applies a changed schema to stored objects, too", async () => {
    const watch = watchOf(widgets);
    assert.equal(await watch.first, "ADDED a");
    const current = (await send("GET", `${definitions}/widgets.example.com`)).body;
    current.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.colour = {
      type: "string",
      default: "red",
    };
    assert.equal((await send("PUT", `${definitions}/widgets.example.com`, current)).status, 200);
    await watch.ended; // The server ends watches when the schema changes.
    await until(async () => (await send("GET", `${widgets}/a`)).body.spec?.colour === "red");
  });

  await t.test("while it is terminating, watches continue, and objects can be changed but not created", async () => {
    const current = (await send("GET", `${widgets}/a`)).body;
    const held = await send("PUT", `${widgets}/a`, {
      ...current,
      metadata: { ...current.metadata, finalizers: ["example.com/hold"] },
    });
    assert.equal(held.status, 200);
    const watch = watchOf(widgets);
    assert.equal(await watch.first, "ADDED a");
    assert.equal((await send("DELETE", `${definitions}/widgets.example.com`)).status, 200);
    const rejected = await send("POST", widgets, widget("late", {}));
    assert.deepEqual(
      [rejected.status, rejected.body.reason, rejected.body.message],
      [
        403,
        "Forbidden",
        'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
      ],
    );
    const discovery = await send("GET", "/apis/example.com/v1");
    assert.deepEqual(discovery.body.resources[0].verbs, ["delete", "deletecollection", "get", "list", "watch"]);
    await until(async () => (await send("GET", `${widgets}/a`)).body.metadata?.deletionTimestamp !== undefined);
    const release = [{ op: "remove", path: "/metadata/finalizers" }];
    assert.equal(
      (await send("PATCH", `${widgets}/a`, release, { "content-type": "application/json-patch+json" })).status,
      200,
    );
    await until(async () => (await send("GET", `${definitions}/widgets.example.com`)).status === 404);
    await watch.ended;
    assert.equal((await send("POST", definitions, definition())).status, 201);
    await until(async () => (await send("POST", widgets, widget("a", {}))).status === 201);
  });

  await t.test("is deleted together with its objects", async () => {
    const watch = watchOf(widgets);
    assert.equal(await watch.first, "ADDED a");
    assert.equal((await send("DELETE", `${definitions}/widgets.example.com`)).status, 200);
    await until(async () => (await send("GET", `${definitions}/widgets.example.com`)).status === 404);
    await until(async () => (await send("GET", widgets)).status === 404);
    await watch.ended;
    assert.equal((await send("POST", definitions, definition())).status, 201);
    await until(async () => (await send("GET", widgets)).status === 200);
    assert.deepEqual((await send("GET", widgets)).body.items, []);
  });
});

test("rejects a namespace selector for cluster-scoped objects", async () => {
  const { spec } = definition();
  const names = { plural: "worlds", kind: "World" };
  const world = {
    ...definition(),
    metadata: { name: "worlds.example.com" },
    spec: { ...spec, names, scope: "Cluster" },
  };
  assert.equal((await send("POST", definitions, world)).status, 201);
  await until(async () => (await send("GET", "/apis/example.com/v1/worlds")).status === 200);
  const { status, body } = await send("GET", "/apis/example.com/v1/worlds?fieldSelector=metadata.namespace%3Da");
  assert.deepEqual([status, body.message], [400, "field label not supported: metadata.namespace"]);
});
