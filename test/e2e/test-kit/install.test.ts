/** Manifests that a test installs, and removes again. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, mock, test } from "node:test";
import { pathToFileURL } from "node:url";
import { configMap, customResourceDefinition, startTestServer, type TestServer } from "../../../src/testing/index.ts";
import { quietControllers } from "../../support/start-test-server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const directory = mkdtempSync(join(tmpdir(), "coxswain-install-"));
let server: TestServer;
before(async () => {
  server = await startTestServer({ controllers: quietControllers });
});
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const statusOf = async (path: string): Promise<number> => (await server.fetch(path)).status;

/** In an order that does not work. */
const operator = `# an operator
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: operator, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: ServiceAccount, name: operator}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: blue, namespace: shop}
spec: {size: 9007199254740993}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ServiceAccount
  metadata: {name: operator, namespace: shop}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: operator, namespace: shop}
  rules: [{apiGroups: [example.com], resources: [widgets], verbs: ["*"]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
${JSON.stringify(customResourceDefinition("widgets.example.com", "Widget"))}
`;

describe("install", () => {
  test("solves the order, waits for definitions, and removes everything again", async () => {
    const installation = await server.install(operator);
    assert.deepEqual(
      installation.objects.map(({ kind, namespace, name, created }) => `${kind} ${namespace}/${name} ${created}`),
      [
        "CustomResourceDefinition /widgets.example.com true",
        "Namespace /shop true",
        "ServiceAccount shop/operator true",
        "Role shop/operator true",
        "RoleBinding shop/operator true",
        "Widget shop/blue true",
      ],
    );
    const widget = await server.fetch("/apis/example.com/v1/namespaces/shop/widgets/blue");
    assert.match(await widget.text(), /"size":9007199254740993\b/);
    await installation.remove();
    await installation.remove();
    assert.deepEqual(
      [await statusOf(`${definitions}/widgets.example.com`), await statusOf("/api/v1/namespaces/shop")],
      [404, 404],
    );
    const again = await server.install(operator);
    await again.remove();
  });

  test("changes objects that exist, and leaves them", async () => {
    await server.fetch("/api/v1/namespaces/default/configmaps", {
      method: "POST",
      body: configMap("kept", { data: { a: "1", b: "1" } }),
    });
    const installation = await server.install([configMap("kept", { data: { a: "2" } }), configMap("new")]);
    assert.deepEqual(
      installation.objects.map(({ name, created }) => [name, created]),
      [
        ["kept", false],
        ["new", true],
      ],
    );
    await installation.remove();
    const { data } = await (await server.fetch("/api/v1/namespaces/default/configmaps/kept")).json();
    assert.deepEqual(data, { a: "2", b: "1" });
    assert.equal(await statusOf("/api/v1/namespaces/default/configmaps/new"), 404);
  });

  test("does not delete an object that took the place of its own", async () => {
    const installation = await server.install(configMap("again"));
    const path = "/api/v1/namespaces/default/configmaps";
    await server.fetch(`${path}/again`, { method: "DELETE" });
    await server.fetch(path, { method: "POST", body: configMap("again") });
    await installation.remove();
    assert.equal(await statusOf(`${path}/again`), 200);
  });

  test("installs all objects or none", async () => {
    const bad = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bad" }, dada: {} };
    await assert.rejects(server.install([configMap("good"), bad]), {
      message: /^objects\[1\]: the ConfigMap bad: .*unknown field "dada"/,
    });
    assert.equal(await statusOf("/api/v1/namespaces/default/configmaps/good"), 404);
  });

  test("tries again what depends on later objects", async () => {
    const quota = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "late" }, spec: pausedContainer };
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "late" } };
    const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "late" } };
    const installation = await server.install([quota, space, account]);
    assert.deepEqual(
      installation.objects.map(({ kind }) => kind),
      ["Namespace", "ServiceAccount", "Pod"],
    );
    await installation.remove();
  });

  test("removes finalizers that nothing else removes, with a warning", async () => {
    const warn = mock.method(console, "warn", () => {});
    const definition = customResourceDefinition("holds.example.com", "Hold");
    const held = { metadata: { name: "a", finalizers: ["example.com/cleanup"] } };
    const installation = await server.install([definition, configMap("held", held)]);
    const holds = "/apis/example.com/v1/namespaces/default/holds";
    await server.fetch(holds, { method: "POST", body: { apiVersion: "example.com/v1", kind: "Hold", ...held } });
    await installation.remove();
    warn.mock.restore();
    assert.equal(await statusOf(`${definitions}/holds.example.com`), 404);
    const lines = warn.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.deepEqual(lines.length, 2);
    assert.ok(lines.every((line) => line.startsWith("Removed finalizers that nothing else removed")));
    assert.ok(lines.some((line) => line.endsWith(": configmaps default/a (example.com/cleanup)")));
    assert.ok(lines.some((line) => line.endsWith(": holds.example.com default/a (example.com/cleanup)")));
  });

  test("reads files, folders and URLs of files", async () => {
    const folder = join(directory, "manifests");
    mkdirSync(join(folder, "nested"), { recursive: true });
    writeFileSync(join(folder, "b.json"), JSON.stringify(configMap("from-json")));
    writeFileSync(join(folder, "a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\n");
    writeFileSync(join(folder, "README.md"), "# not a manifest");
    const single = join(directory, "single.yml");
    writeFileSync(single, "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n");
    const { objects, remove } = await server.install([folder, pathToFileURL(single), single]);
    const [yaml, json, ...generated] = objects.map(({ name }) => name);
    assert.deepEqual([yaml, json], ["from-yaml", "from-json"]);
    assert.ok(generated.length === 2 && generated.every((name) => /^made-\w{5}$/.test(name)));
    await remove();
  });

  test("puts objects without a namespace into the one of the options", async () => {
    const { objects, remove } = await server.install(configMap("placed"), { namespace: "kube-public" });
    assert.equal(objects[0]?.namespace, "kube-public");
    await remove();
  });
});

const pausedContainer = { containers: [{ name: "main", image: "registry.k8s.io/pause" }] };

const wrong: [what: string, source: () => string | URL | object, message: RegExp][] = [
  ["a missing file", () => "no/such.yaml", /^no\/such\.yaml: ENOENT/],
  [
    "an empty folder",
    () => mkdtempSync(join(directory, "empty-")),
    /there is no \.yaml, \.yml or \.json file in the folder$/,
  ],
  ["the network", () => "https://example.com/crds.yaml", /^https:.*: nothing is read from the network/],
  ["nothing", () => [], /^what is installed: there is no object in it$/],
  ["only comments", () => "# nothing\n---\n", /^what is installed: there is no object in it$/],
  ["text that is no YAML", () => "a: [\n", /^the text, line 1: yaml: line 1: did not find expected node content$/],
  ["a field twice", () => "a: 1\na: 2\n", /^the text, line 1: line 2: key "a" already set in map$/],
  ["a text", () => "--- just\n... text\n", /^the text, line 1: must be an object$/],
  [
    "no kind",
    () => ({ apiVersion: "v1", metadata: { name: "a" } }),
    /^objects\[0\]: needs the fields apiVersion and kind$/,
  ],
  ["no name", () => ({ apiVersion: "v1", kind: "ConfigMap" }), /^objects\[0\]: the ConfigMap has no metadata\.name$/],
  [
    "input of kustomize",
    () => ({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" }),
    /^objects\[0\]: this is input of kustomize/,
  ],
  [
    "an unknown kind",
    () => ({ apiVersion: "a.b/v1", kind: "C", metadata: { name: "c" } }),
    /^objects\[0\]: the server has no kind C of a\.b\/v1/,
  ],
  [
    "too many objects",
    () => Array.from({ length: 1001 }, (_, at) => configMap(`c-${at}`)),
    /there are 1001 objects; 1000 can be/,
  ],
  ["too much text", () => `# ${"x".repeat(16 << 20)}\n`, /^the text: more than 16 MiB cannot be installed together$/],
];
for (const [what, source, message] of wrong) {
  test(`does not install ${what}`, async () => {
    await assert.rejects(server.install(source()), { message });
  });
}

test("reports names that another definition has", async () => {
  const { remove } = await server.install(customResourceDefinition("ones.example.com", "One"));
  await assert.rejects(server.install(customResourceDefinition("others.example.com", "One")), {
    message: /^objects\[0\]: the CustomResourceDefinition others\.example\.com: "OneList" is already in use/,
  });
  assert.equal(await statusOf(`${definitions}/others.example.com`), 404);
  await remove();
});
