/**
 * Versions of a definition whose schemas differ, with conversion `None`. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_handler.go
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually, until } from "../support/until.ts";
import { http2Watches } from "../support/watch-connection.ts";

const text = { type: "string" };

const version = (name: string, storage: boolean, properties: object, more: object = {}) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", ...properties }, status: { type: "object", properties: { seen: text } } },
    },
  },
  ...more,
});

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "gadgets", kind: "Gadget" },
    scope: "Namespaced",
    versions: [
      version(
        "v1",
        false,
        {
          required: ["old"],
          properties: { shared: { type: "string", maxLength: 3 }, old: text, early: { type: "string", default: "v1" } },
          "x-kubernetes-validations": [{ rule: "!has(self.old) || self.old != 'bad'", message: "old is bad" }],
        },
        {
          additionalPrinterColumns: [
            { name: "Shared", type: "string", jsonPath: ".spec.shared" },
            { name: "Unseen", type: "string", jsonPath: ".spec.fresh" },
          ],
          selectableFields: [{ jsonPath: ".spec.shared" }],
          subresources: { status: {} },
          deprecated: true,
        },
      ),
      version(
        "v2",
        true,
        {
          properties: {
            shared: text,
            fresh: { type: "string", maxLength: 5 },
            late: { type: "string", default: "v2" },
          },
        },
        {
          additionalPrinterColumns: [{ name: "Fresh", type: "string", jsonPath: ".spec.fresh" }],
          selectableFields: [{ jsonPath: ".spec.fresh" }],
          deprecated: true,
          deprecationWarning: "v2 has had its day",
        },
      ),
      version("v3", false, { properties: { shared: text } }),
    ],
  },
};

const { server, client } = await startServerWithClient();
const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
  client.send({ method, path, headers, ...(body !== undefined && { body }) });
const path = (at: string, rest = ""): string => `/apis/example.com/${at}/namespaces/default/gadgets${rest}`;
const gadget = (at: string, name: string, spec: object) => ({
  apiVersion: `example.com/${at}`,
  kind: "Gadget",
  metadata: { name },
  spec,
});

before(async () => {
  assert.equal((await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)).status, 201);
  await eventually("the kind is served", async () => (await send("GET", path("v3"))).status === 200);
});

test("a new object is pruned, defaulted and validated at the request's version and stored at the storage version", async () => {
  const created = await send("POST", path("v1"), gadget("v1", "a", { shared: "abc", old: "x", fresh: "no" }));
  assert.deepEqual(
    [created.status, created.body.apiVersion, created.body.spec],
    [201, "example.com/v1", { shared: "abc" }],
  );
  assert.deepEqual((await send("GET", path("v2", "/a"))).body.spec, { shared: "abc", late: "v2" });
  assert.deepEqual((await send("GET", path("v3", "/a"))).body.spec, { shared: "abc" });
});

const rejectedRows: [what: string, at: string, spec: object, message: RegExp][] = [
  ["a missing field of v1", "v1", { shared: "abc" }, /spec\.old: Required value/],
  [
    "a value too long for v1",
    "v1",
    { shared: "abcd", old: "x" },
    /spec\.shared: Too long: may not be more than 3 bytes/,
  ],
  ["a violated rule of v1", "v1", { old: "bad" }, /old is bad/],
  ["a value too long for v2", "v2", { fresh: "abcdef" }, /spec\.fresh: Too long: may not be more than 5 bytes/],
];
for (const [what, at, spec, message] of rejectedRows) {
  test(`rejects ${what} with the schema of the request's version`, async () => {
    const { status, body } = await send("POST", path(at), gadget(at, "rejected", spec));
    assert.equal(status, 422);
    assert.match(body.message, message);
  });
}

test("accepts at one version what another version rejects", async () => {
  const created = await send("POST", path("v2"), gadget("v2", "b", { shared: "abcdef", fresh: "new" }));
  assert.deepEqual([created.status, created.body.spec], [201, { shared: "abcdef", fresh: "new", late: "v2" }]);
  const dry = await send("POST", `${path("v1")}?dryRun=All`, gadget("v1", "c", { old: "x" }));
  assert.deepEqual([dry.status, dry.body.spec], [201, {}]);
});

test("an update at a version drops fields unknown to it and may keep unchanged invalid values", async () => {
  const { body } = await send("GET", path("v1", "/b"));
  const rejected = await send("PUT", path("v1", "/b"), { ...body, metadata: { ...body.metadata, labels: { a: "b" } } });
  assert.match(rejected.body.message, /spec\.old: Required value/); // The field is not stored at v2, so it is missing again.
  assert.doesNotMatch(rejected.body.message, /spec\.shared/); // Unchanged values are not validated again.
  const updated = await send("PUT", path("v1", "/b"), { ...body, spec: { ...body.spec, old: "x" } });
  assert.equal(updated.status, 200);
  assert.deepEqual((await send("GET", path("v2", "/b"))).body.spec, { shared: "abcdef", late: "v2" });
});

test("status is a subresource only of versions that declare it", async () => {
  const { body } = await send("GET", path("v1", "/a"));
  const updated = await send("PUT", path("v1", "/a/status"), { ...body, spec: { old: "y" }, status: { seen: "yes" } });
  assert.equal(updated.body.message ?? "", "");
  assert.deepEqual([updated.status, updated.body.spec, updated.body.status], [200, { shared: "abc" }, { seen: "yes" }]);
  assert.equal((await send("PUT", path("v2", "/a/status"), body)).status, 404);
  const atV2 = (await send("GET", path("v2", "/a"))).body;
  const whole = await send("PUT", path("v2", "/a"), { ...atV2, status: { seen: "by all" } });
  assert.deepEqual([whole.status, whole.body.status], [200, { seen: "by all" }]);
});

test("patch and apply change the object as the version shows it", async () => {
  const merged = await send(
    "PATCH",
    path("v2", "/a"),
    { spec: { fresh: "f" } },
    { "content-type": "application/merge-patch+json" },
  );
  assert.deepEqual([merged.status, merged.body.spec], [200, { shared: "abc", fresh: "f", late: "v2" }]);
  const applied = await send("PATCH", path("v3", "/d?fieldManager=m"), gadget("v3", "d", { shared: "one" }), {
    "content-type": "application/apply-patch+yaml",
  });
  assert.deepEqual([applied.status, applied.body.spec], [201, { shared: "one" }]);
  const again = await send("PATCH", path("v3", "/d?fieldManager=m"), gadget("v3", "d", {}), {
    "content-type": "application/apply-patch+yaml",
  });
  assert.deepEqual([again.status, again.body.spec ?? {}], [200, {}]);
});

test("columns and selectable fields are those of the version", async () => {
  const table = async (at: string): Promise<unknown[]> => {
    const { body } = await send("GET", path(at, "/a"), undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    return [body.columnDefinitions.map(({ name }: { name: string }) => name), body.rows[0].cells];
  };
  assert.deepEqual(await table("v1"), [
    ["Name", "Shared", "Unseen"],
    ["a", "abc", null],
  ]);
  assert.deepEqual(await table("v2"), [
    ["Name", "Fresh"],
    ["a", "f"],
  ]);
  const select = async (at: string, field: string): Promise<unknown> => {
    const { status, body } = await send("GET", `${path(at)}?fieldSelector=${field}`);
    return status === 200
      ? body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
      : body.message;
  };
  assert.deepEqual(await select("v1", "spec.shared=abc"), ["a"]);
  assert.deepEqual(await select("v2", "spec.fresh=f"), ["a"]);
  assert.equal(await select("v2", "spec.shared=abc"), "field label not supported: spec.shared");
  assert.equal(await select("v1", "spec.fresh=f"), "field label not supported: spec.fresh");
});

const deprecationRows: [at: string, rest: string, warning: string | undefined][] = [
  ["v1", "", '299 - "example.com/v1 Gadget is deprecated; use example.com/v3 Gadget"'],
  ["v1", "/none", '299 - "example.com/v1 Gadget is deprecated; use example.com/v3 Gadget"'],
  ["v1", "/a/status", '299 - "example.com/v1 Gadget is deprecated; use example.com/v3 Gadget"'],
  ["v2", "", '299 - "v2 has had its day"'],
  ["v3", "", undefined],
];
for (const [at, rest, warning] of deprecationRows) {
  test(`${warning === undefined ? "no answer warns" : "answers warn"} of deprecation at ${at}${rest}`, async () => {
    assert.equal((await send("GET", path(at, rest))).headers.warning, warning);
  });
}

test("metrics count requests of deprecated versions", async () => {
  const { text } = await client.send({ method: "GET", path: "/metrics", headers: { accept: "text/plain" } });
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith("apiserver_requested_deprecated_apis{") && line.includes('subresource=""'));
  const labels = (version: string): string =>
    `{group="example.com",version="${version}",resource="gadgets",subresource="",removed_release=""}`;
  assert.deepEqual(
    lines.sort(),
    ["v1", "v2"].map((version) => `apiserver_requested_deprecated_apis${labels(version)} 1`),
  );
});

const kubectl = kubectls().at(-1);
const kubectlRows: [args: string, output: RegExp][] = [
  [
    "get gadgets.v1.example.com a",
    /^NAME +SHARED +UNSEEN\na +abc *\n?Warning: example.com\/v1 Gadget is deprecated; use example.com\/v3 Gadget$/,
  ],
  ["get gadgets.v2.example.com a", /^NAME +FRESH\na +f\nWarning: v2 has had its day$/],
  ["get gadgets a -o jsonpath={.apiVersion}{.spec}", /^example.com\/v3\{"shared":"abc"\}$/],
];
for (const [args, output] of kubectlRows) {
  test(`kubectl works at each version: ${args}`, { skip: skipWithout("kubectl") }, async () => {
    const directory = mkdtempSync(join(server.directory, "kubectl-"));
    const run = await runKubectl(kubectl as string, args.split(" "), {
      directory,
      kubeconfigPath: server.kubeconfigPath,
    });
    assert.match(run.output, output);
  });
}

test("a watch has events of its version", async () => {
  const watches = http2Watches(server.kubeconfig);
  const shown = await new Promise<unknown>((resolve) => {
    watches.open(`${path("v3")}?watch=1&fieldSelector=metadata.name=a`, {
      event: ({ object }) => resolve(object),
      end: () => resolve(undefined),
    });
  });
  watches.break();
  const { apiVersion, spec } = shown as { apiVersion: string; spec: object };
  assert.deepEqual([apiVersion, spec], ["example.com/v3", { shared: "abc" }]);
});

test("objects stored at a former version have the requested version, even after the former version is removed", async () => {
  const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
  const merge = { "content-type": "application/merge-patch+json" };
  const { versions } = definition.spec;
  const storing = (name: string) => versions.map((one) => ({ ...one, storage: one.name === name }));
  const shown = async (at: string): Promise<unknown> => {
    const one = (await send("GET", path(at, "/a"))).body;
    const { items } = (await send("GET", path(at))).body;
    return [one.apiVersion, one.spec, ...new Set(items.map(({ apiVersion }: { apiVersion: string }) => apiVersion))];
  };
  const of = (at: string): unknown => [`example.com/${at}`, { shared: "abc" }, `example.com/${at}`];
  const settled = async (at: string): Promise<void> => {
    await until(async () => assert.deepEqual(await shown(at), of(at)));
  };
  const moved = await send("PATCH", definitionPath, { spec: { versions: storing("v3") } }, merge);
  assert.deepEqual(moved.body.status.storedVersions, ["v2", "v3"]);
  await settled("v3");
  assert.deepEqual(((await shown("v2")) as unknown[])[0], "example.com/v2");
  await send("PATCH", `${definitionPath}/status`, { status: { storedVersions: ["v3"] } }, merge);
  const gone = await send(
    "PATCH",
    definitionPath,
    { spec: { versions: storing("v3").filter(({ name }) => name === "v3") } },
    merge,
  );
  assert.equal(gone.status, 200);
  await settled("v3");
  const written = await send("PATCH", path("v3", "/a"), { metadata: { labels: { a: "b" } } }, merge);
  assert.deepEqual([written.status, written.body.apiVersion], [200, "example.com/v3"]);
});

test("an object is read with the schema of the version it is stored at until it is written again", async () => {
  const number = { type: "integer" };
  const versionsOf = (storage: string) => [
    version("v1", storage === "v1", { properties: { both: number, old: text } }),
    version("v2", storage === "v2", { properties: { both: number, fresh: { type: "string", default: "d" } } }),
  ];
  const relics = {
    ...definition,
    metadata: { name: "relics.example.com" },
    spec: { ...definition.spec, names: { plural: "relics", kind: "Relic" }, versions: versionsOf("v1") },
  };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const at = (name: string, rest = ""): string => `/apis/example.com/${name}/namespaces/default/relics${rest}`;
  const specOf = async (request: Promise<Answer>) => (await request).body.spec;
  await send("POST", definitions, relics);
  const relic = { ...gadget("v1", "a", { both: 1, old: "x" }), kind: "Relic" };
  await until(async () => (await send("POST", at("v1"), relic)).status === 201);
  const merge = { "content-type": "application/merge-patch+json" };
  await send("PATCH", `${definitions}/relics.example.com`, { spec: { versions: versionsOf("v2") } }, merge);
  // As a kube-apiserver 1.36.0 answers.
  await until(async () => (await specOf(send("GET", at("v2", "/a")))).old === undefined);
  assert.deepEqual(await specOf(send("GET", at("v1", "/a"))), { both: 1, old: "x" });
  assert.deepEqual(await specOf(send("GET", at("v2", "/a"))), { both: 1 });
  const lists = await Promise.all(["v1", "v2"].map(async (name) => (await send("GET", at(name))).body.items[0].spec));
  assert.deepEqual(lists, [{ both: 1, old: "x" }, { both: 1 }]);
  const labels = { metadata: { labels: { a: "b" } } };
  assert.deepEqual(await specOf(send("PATCH", at("v1", "/a?dryRun=All"), labels, merge)), { both: 1 });
  const dry = { ...relic, metadata: { name: "b" } };
  assert.deepEqual(await specOf(send("POST", at("v1", "?dryRun=All"), dry)), { both: 1 });
  assert.deepEqual(await specOf(send("GET", at("v1", "/a"))), { both: 1, old: "x" });
  assert.deepEqual(await specOf(send("PATCH", at("v1", "/a"), labels, merge)), { both: 1 });
  assert.deepEqual(await specOf(send("GET", at("v1", "/a"))), { both: 1 });
  assert.deepEqual(await specOf(send("GET", at("v2", "/a"))), { both: 1, fresh: "d" });
});
