import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { applyStrategicMergePatch, StrategicMergeError } from "./strategic-merge.ts";
import type { StrategicMergeFault } from "./strategic-merge-error.ts";

type Json = Record<string, unknown>;
type Expected = Json | [fault: StrategicMergeFault, message: string];

function check(definition: string, original: Json, patch: Json, expected: Expected): void {
  const before = JSON.stringify(original);
  const apply = () => applyStrategicMergePatch(original, structuredClone(patch), builtinSchema(definition));
  if (Array.isArray(expected)) {
    assert.throws(apply, (error) => {
      assert.ok(error instanceof StrategicMergeError);
      assert.deepEqual([error.fault, error.message], expected);
      return true;
    });
  } else assert.deepEqual(apply(), expected);
  assert.equal(JSON.stringify(original), before);
}

const named = (...names: string[]): Json[] => names.map((name) => ({ name }));

const account = {
  metadata: { name: "s", labels: { a: "1", b: "2" }, finalizers: ["x/a", "x/b"] },
  secrets: named("a", "b"),
  imagePullSecrets: named("p"),
};

/** Results of apimachinery v0.36 and of a real 1.36 server. */
const accountRows: [what: string, patch: Json, expected: Expected][] = [
  ["nothing", {}, account],
  ["new elements come first", { secrets: named("c") }, { ...account, secrets: named("c", "a", "b") }],
  [
    "elements merge by key",
    { secrets: [{ name: "b", kind: "K" }] },
    { ...account, secrets: [{ name: "a" }, { name: "b", kind: "K" }] },
  ],
  ["the patch's order", { secrets: named("b", "a") }, { ...account, secrets: named("b", "a") }],
  ["delete an element", { secrets: [{ name: "a", $patch: "delete" }] }, { ...account, secrets: named("b") }],
  ["delete an element that is absent", { secrets: [{ name: "z", $patch: "delete" }] }, account],
  ["replace a list", { secrets: [{ $patch: "replace" }, { name: "z" }] }, { ...account, secrets: named("z") }],
  [
    "a list without strategy is replaced",
    { imagePullSecrets: named("q") },
    { ...account, imagePullSecrets: named("q") },
  ],
  [
    "null deletes a list",
    { secrets: null },
    { metadata: account.metadata, imagePullSecrets: account.imagePullSecrets },
  ],
  ["an empty list changes nothing", { secrets: [] }, account],
  ["another type replaces", { secrets: "x" }, { ...account, secrets: "x" }],
  [
    "primitives merge as a set",
    { metadata: { finalizers: ["x/c", "x/a"] } },
    withMetadata({ finalizers: ["x/c", "x/a", "x/b"] }),
  ],
  [
    "primitives are removed",
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["x/a", "x/z"] } },
    withMetadata({ finalizers: ["x/b"] }),
  ],
  [
    "primitives are added, removed and ordered, as kubectl does",
    {
      metadata: {
        "$deleteFromPrimitiveList/finalizers": ["x/a"],
        "$setElementOrder/finalizers": ["x/c", "x/d"],
        finalizers: ["x/c", "x/d"],
      },
    },
    withMetadata({ finalizers: ["x/c", "x/d", "x/b"] }),
  ],
  ["a map merges", { metadata: { labels: { b: null, c: "3" } } }, withMetadata({ labels: { a: "1", c: "3" } })],
  ["a map is replaced", { metadata: { labels: { $patch: "replace", z: "1" } } }, withMetadata({ labels: { z: "1" } })],
  ["a map is emptied", { metadata: { labels: { $patch: "delete" } } }, withMetadata({ labels: {} })],
  [
    "keys are retained",
    { metadata: { $retainKeys: ["name", "labels"], labels: { k: "v" } } },
    { ...account, metadata: { name: "s", labels: { a: "1", b: "2", k: "v" } } },
  ],
  [
    "a new value loses its nulls and directives",
    { extra: { a: null, b: [{ c: null }, { $patch: "delete" }, null], d: { $patch: "replace" } } },
    { ...account, extra: { b: [{}, null] } },
  ],
  ["a directive alone adds nothing", { metadata: { annotations: { $patch: "delete" } } }, account],
  [
    "ownerReferences added with a deletion",
    { metadata: { ownerReferences: [{ uid: "u", $patch: "delete" }] } },
    withMetadata({ ownerReferences: [] }),
  ],
  ["an order alone moves", { "$setElementOrder/secrets": named("b", "a") }, { ...account, secrets: named("b", "a") }],
  [
    "an order places new elements, deletions do not count",
    { "$setElementOrder/secrets": named("n", "b"), secrets: [{ name: "n" }, { name: "a", $patch: "delete" }] },
    { ...account, secrets: named("n", "b") },
  ],
  ["an order for an absent list", { metadata: { "$setElementOrder/ownerReferences": [{ uid: "u" }] } }, account],
  [
    "no merge key",
    { secrets: [{ namespace: "n" }] },
    unforeseen("map: map[namespace:n] does not contain declared merge key: name"),
  ],
  [
    "unknown directive",
    { metadata: { $patch: "merge" } },
    unforeseen("unknown patch type: merge in map: map[$patch:merge]"),
  ],
  [
    "a directive that is null",
    { metadata: { $patch: null } },
    unforeseen("unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"),
  ],
  [
    "a directive that is not a string",
    { metadata: { $patch: [1, "a", { b: true }] } },
    unforeseen("unknown patch type: [%!s(int64=1) a map[b:%!s(bool=true)]] in map: map[$patch:[1 a map[b:true]]]"),
  ],
  [
    "a directive with a null in a list",
    { metadata: { $patch: [null, { a: null }] } },
    unforeseen("unknown patch type: [<nil> map[a:<nil>]] in map: map[$patch:[<nil> map[a:<nil>]]]"),
  ],
  [
    "an order of objects without a merge key, for which upstream panics",
    { metadata: { "$setElementOrder/finalizers": [{}] } },
    ["format", "invalid patch format of setElementOrder list"],
  ],
  [
    "unknown directive of an element",
    { secrets: [{ $patch: "x" }] },
    unforeseen("unknown patch type: x in map: map[$patch:x]"),
  ],
  [
    "merge directive of an element",
    { secrets: [{ $patch: "merge" }] },
    unforeseen("merging lists cannot yet be specified in the patch"),
  ],
  [
    "mixed elements",
    { secrets: [{ name: "a" }, "b"] },
    unforeseen("list element types are not identical: [[map[name:a] map[name:b]] [map[name:a] b]]"),
  ],
  [
    "lists of lists",
    { metadata: { finalizers: [["x"]] } },
    unforeseen("list element types are not identical: [[x/a x/b] [[x]]]"),
  ],
  [
    "retained keys that are not a list",
    { metadata: { $retainKeys: "x" } },
    ["format", "invalid patch format of retainKeys"],
  ],
  [
    "a set key is not retained",
    { metadata: { $retainKeys: ["name"], labels: {} } },
    ["format", "invalid patch format of retainKeys"],
  ],
  ["deletion without field", { $deleteFromPrimitiveList: ["a"] }, ["format", "invalid patch format of primitive list"]],
  ["order without field", { $setElementOrder: ["a"] }, ["format", "invalid patch format of setElementOrder list"]],
  [
    "order that is not a list",
    { "$setElementOrder/secrets": "x" },
    unforeseen("expected a []interface {}, but received a string"),
  ],
  [
    "order of no objects without a merge key",
    { imagePullSecrets: [], "$setElementOrder/imagePullSecrets": [] },
    unforeseen("map: map[name:p] does not contain declared merge key: "),
  ],
  ["order of strings", { "$setElementOrder/secrets": ["a"] }, unforeseen("value for key 0 is not a map")],
  [
    "order of an unknown field",
    { "$setElementOrder/nope": ["a"] },
    unforeseen('unable to find api field in struct ServiceAccount for the json field "nope"'),
  ],
  [
    "order that lacks an element",
    { "$setElementOrder/secrets": named("a"), secrets: named("a", "c") },
    unforeseen(
      "The order in patch list:\n[map[name:a] map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ),
  ],
];

function withMetadata(changes: Json): Json {
  return { ...account, metadata: { ...account.metadata, ...changes } };
}

function unforeseen(message: string): Expected {
  return ["unforeseen", message];
}

for (const [what, patch, expected] of accountRows) {
  test(`strategic merge: ${what}`, () => check("io.k8s.api.core.v1.ServiceAccount", account, patch, expected));
}

const pod = (spec: Json): Json => ({ spec: { template: { spec } } });
const env = (name: string, value: string): Json => ({ name, value });

/** Patches of kubectl with the results of apimachinery v0.36. */
const deploymentRows: [what: string, original: Json, patch: Json, expected: Expected][] = [
  [
    "set image",
    pod({
      containers: [
        { name: "a", image: "1", ports: [{ containerPort: 80 }] },
        { name: "b", image: "1" },
      ],
    }),
    pod({ "$setElementOrder/containers": named("a", "b"), containers: [{ name: "b", image: "2" }] }),
    pod({
      containers: [
        { name: "a", image: "1", ports: [{ containerPort: 80 }] },
        { name: "b", image: "2" },
      ],
    }),
  ],
  [
    "rollout restart",
    { spec: { template: { metadata: { labels: { a: "b" } } } } },
    { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } } } },
    {
      spec: {
        template: { metadata: { labels: { a: "b" }, annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } },
      },
    },
  ],
  [
    "scale",
    { spec: { replicas: 1, paused: true } },
    { spec: { replicas: 3 } },
    { spec: { replicas: 3, paused: true } },
  ],
  [
    "another deployment strategy",
    { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } },
    { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
    { spec: { strategy: { type: "Recreate" } } },
  ],
  [
    "another source of a volume",
    pod({ volumes: [{ name: "v", configMap: { name: "c" } }] }),
    pod({
      "$setElementOrder/volumes": named("v"),
      volumes: [{ $retainKeys: ["name", "emptyDir"], name: "v", emptyDir: {} }],
    }),
    pod({ volumes: [{ name: "v", emptyDir: {} }] }),
  ],
  [
    "set env within a container",
    pod({ containers: [{ name: "a", env: [env("X", "1"), env("Y", "1"), env("Z", "1")] }] }),
    pod({
      "$setElementOrder/containers": named("a"),
      containers: [
        {
          name: "a",
          "$setElementOrder/env": named("Z", "N", "X"),
          env: [env("N", "2"), { name: "Y", $patch: "delete" }],
        },
      ],
    }),
    pod({ containers: [{ name: "a", env: [env("Z", "1"), env("N", "2"), env("X", "1")] }] }),
  ],
  [
    "elements that are only in the live list keep their places",
    pod({ containers: named("a", "sidecar", "b") }),
    pod({ "$setElementOrder/containers": named("a", "n", "b"), containers: named("n") }),
    pod({ containers: named("a", "n", "sidecar", "b") }),
  ],
  [
    "new elements take the places of deleted ones",
    pod({ containers: named("a", "b", "sidecar") }),
    pod({
      "$setElementOrder/containers": named("b", "n"),
      containers: [{ name: "n" }, { name: "a", $patch: "delete" }],
    }),
    pod({ containers: named("b", "sidecar", "n") }),
  ],
  [
    "numbers as merge keys",
    pod({ containers: [{ name: "a", ports: [{ containerPort: 80 }, { containerPort: 81, name: "x" }] }] }),
    pod({ containers: [{ name: "a", ports: [{ containerPort: 81, protocol: "UDP" }] }] }),
    pod({
      containers: [{ name: "a", ports: [{ containerPort: 80 }, { containerPort: 81, name: "x", protocol: "UDP" }] }],
    }),
  ],
  [
    "an atomic list is replaced",
    pod({ tolerations: [{ key: "a" }] }),
    pod({ tolerations: [{ key: "b", value: null }] }),
    pod({ tolerations: [{ key: "b", value: null }] }),
  ],
  [
    "primitives of an atomic list are removed",
    pod({ containers: [{ name: "a", args: ["x", "y"] }] }),
    pod({ containers: [{ name: "a", "$deleteFromPrimitiveList/args": ["x"] }] }),
    pod({ containers: [{ name: "a", args: ["y"] }] }),
  ],
  [
    "objects have no primitives",
    pod({ tolerations: [{ key: "a" }] }),
    pod({ "$deleteFromPrimitiveList/tolerations": [{ key: "a" }] }),
    unforeseen("cannot merge lists without merge key for struct"),
  ],
  ["a patch of nothing but a directive", { spec: { replicas: 1 } }, { $patch: "replace", spec: {} }, { spec: {} }],
];

for (const [what, original, patch, expected] of deploymentRows) {
  test(`strategic merge: ${what}`, () => check("io.k8s.api.apps.v1.Deployment", original, patch, expected));
}

test("strategic merge: objects within maps do not merge", () => {
  const definition = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
  const expected = unforeseen("merging an object in json but data type is not struct, instead is: map");
  check(definition, { properties: { a: { type: "string" } } }, { properties: { a: { type: "object" } } }, expected);
});

test("strategic merge: __proto__ is a member like any other", () => {
  const read = (text: string): Json => JSON.parse(text);
  const patched = applyStrategicMergePatch(
    read('{"metadata":{"labels":{"__proto__":"a"}}}'),
    read('{"metadata":{"labels":{"__proto__":"b"},"annotations":{"__proto__":"c"}},"__proto__":{"a":1}}'),
    builtinSchema("io.k8s.api.core.v1.ServiceAccount"),
  );
  assert.equal(
    JSON.stringify(patched),
    '{"metadata":{"labels":{"__proto__":"b"},"annotations":{"__proto__":"c"}},"__proto__":{"a":1}}',
  );
});

test("strategic merge: long lists merge in little more than their length", () => {
  const secrets = named(...Array.from({ length: 50_000 }, (_, index) => `s${index}`));
  const patch = { "$setElementOrder/secrets": secrets.toReversed(), secrets: secrets.toReversed() };
  const patched = applyStrategicMergePatch({ secrets }, patch, builtinSchema("io.k8s.api.core.v1.ServiceAccount"));
  assert.deepEqual((patched.secrets as Json[]).at(0), { name: "s49999" });
});
