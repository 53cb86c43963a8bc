/** MutatingAdmissionPolicies through a server: patches, defaults, errors and reinvocation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";

const { client } = await startServerWithClient();
const group = "/apis/admissionregistration.k8s.io/v1";

async function created(path: string, body: object): Promise<void> {
  const answer = await client.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
}

/** An expression of an apply configuration, or a list of JSON patches. */
type Expression = string;

interface Spec {
  readonly mutations: readonly Expression[];
  readonly reinvocationPolicy?: string;
  readonly failurePolicy?: string;
  readonly matchConditions?: readonly object[];
}

/** Creates a policy and a binding for one resource in the namespace. */
async function policy(name: string, namespace: string, resource: string, spec: Spec): Promise<void> {
  const { mutations, reinvocationPolicy = "Never", ...rest } = spec;
  const rules = [{ apiGroups: ["*"], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }];
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  await created(`${group}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: rules, namespaceSelector },
      reinvocationPolicy,
      mutations: mutations.map((expression) =>
        expression.startsWith("[")
          ? { patchType: "JSONPatch", jsonPatch: { expression } }
          : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
      ),
      ...rest,
    },
  });
  await created(`${group}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
}

const deployment = {
  metadata: { name: "a" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "x" }] } },
  },
};

interface Row extends Spec {
  readonly name: string;
  /** Default: a ConfigMap with `data: {a: "1"}`. */
  readonly resource?: "deployments";
  /** Members of the created object by path, or the code, reason and message of the error. */
  readonly found: Readonly<Record<string, unknown>> | readonly [code: number, reason: string, message: string];
}

const denied = (name: string, why: string): Row["found"] => [
  403,
  "Invalid",
  `policy '${name}' with binding '${name}' denied request: ${why}`,
];
const applied = "error applying patch: ";
const untyped = `${applied}failed to convert patch object to typed object: `;
const strict = 'Internal error occurred: strict decoding error: unknown field "spec.nope"';
const escaped = "jsonpatch.escapeKey('example.com/x')";

const rows: readonly Row[] = [
  { name: "merges", mutations: ["Object{data: {'b': object.data.a + '2'}}"], found: { data: { a: "1", b: "12" } } },
  {
    name: "later-mutations-see-earlier-ones",
    mutations: ["Object{data: {'b': '2'}}", `[JSONPatch{op: "copy", from: "/data/b", path: "/data/c"}]`],
    found: { data: { a: "1", b: "2", c: "2" } },
  },
  {
    name: "merges-by-key-and-sets-defaults",
    resource: "deployments",
    mutations: [
      "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'side', image: 'y'}]}}}}",
    ],
    found: {
      "spec.template.spec.containers.0.name": "main",
      "spec.template.spec.containers.1.imagePullPolicy": "Always",
    },
  },
  {
    name: "escapes-keys",
    mutations: [
      `[JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + ${escaped}, value: "1"}]`,
    ],
    found: { "metadata.annotations": { "example.com/x": "1" } },
  },
  {
    name: "keeps-the-object-when-a-test-fails",
    mutations: [`[JSONPatch{op: "test", path: "/data/a", value: "2"}, JSONPatch{op: "remove", path: "/data"}]`],
    found: { data: { a: "1" } },
  },
  {
    name: "skips-by-condition",
    mutations: ["Object{data: {'b': '1'}}"],
    matchConditions: [{ name: "never", expression: "object.data.a == '2'" }],
    found: { data: { a: "1" } },
  },
  {
    name: "runs-again",
    mutations: ["Object{data: {'n': string(size(object.data))}}"],
    reinvocationPolicy: "IfNeeded",
    found: { data: { a: "1", n: "2" } },
  },
  {
    name: "ignores",
    mutations: ["Object{data: {'b': object.no}}"],
    failurePolicy: "Ignore",
    found: { data: { a: "1" } },
  },
  ...Object.entries({
    "Object{immutable: quantity('1k')}": `${untyped}.immutable: expected boolean, got &{1k}`,
    "Object{immutable: ip('10.0.0.1')}": `${untyped}.immutable: expected boolean, got &{10.0.0.1}`,
    "Object{immutable: authorizer}": `${untyped}.immutable: expected boolean, got &{no such overload}`,
    "Object{immutable: variables}": `${untyped}.immutable: expected boolean, got &{no such overload}`,
    "Object{immutable: timestamp('2026-01-02T03:04:05+01:00')}": `${untyped}.immutable: expected boolean, got &{2026-01-02 03:04:05 +0100 +0100}`,
    "Object{immutable: [[quantity('1')]]}": `${untyped}.immutable: expected boolean, got &{[[1]]}`,
    "Object{immutable: {1: 'a'}}": "invalid return type: *dynamic.ObjectVal",
    "Object{data: {'b': 1u}}": `${untyped}.data.b: expected string, got &value.valueUnstructured{Value:0x1}`,
    "Object{data: {'b': {'c': 'd'}}}": `${untyped}.data.b: expected string, got &value.valueUnstructured{Value:map[ref.Val]ref.Val{"c":"d"}}`,
    "Object{metadata: Object.metadata{annotations: {'a': duration('90s')}}}": `${untyped}.metadata.annotations.a: expected string, got &value.valueUnstructured{Value:90000000000}`,
    "Object{metadata: Object.metadata{ownerReferences: [{'uid': 'u'}]}}": `${untyped}.metadata.ownerReferences: element 0: associative list with keys may not have non-map elements`,
    "Object{metadata: Object.metadata{finalizers: 'e.x/a e.x/b'.split(' ')}}": `${untyped}.metadata.finalizers: expected list, got &{[e.x/a e.x/b]}`,
    ...Object.fromEntries(
      [
        ["quantity('1k')", "type conversion error from 'Quantity' to '*structpb.Value'"],
        ["authorizer", "type conversion error from 'kubernetes.authorization.Authorizer' to '*structpb.Value'"],
        ["variables", 'disallowed conversion from "kubernetes.variables" to ""'],
        ["int", "type conversion not supported for 'type'"],
        ["optional.none()", "optional.none() dereference"],
        ["{1: 'a'}", "unsupported type conversion from 'int' to string"],
        ["{true: 'a'}", "type conversion error from bool to 'string'"],
        ["Object.spec.x{a: timestamp(0)}", "proto: invalid type: time.Time"],
        [
          "double('NaN')",
          "json: error calling MarshalJSON for type *structpb.Value: proto: google.protobuf.Value.number_value: invalid NaN value",
        ],
      ].map(([value, why]) => [
        `[JSONPatch{op: "add", path: "/data/b", value: ${value}}]`,
        `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${why}`,
      ]),
    ),
  }).map(([mutation, why], index) => {
    const name = `has-no-form-in-json-${index}`;
    return { name, mutations: [mutation], found: denied(name, why) };
  }),
  ...["int", "optional.of('int')"].map((value, index) => ({
    name: `has-a-form-in-an-object-${index}`,
    mutations: [`Object{data: {'b': ${value}}}`],
    found: { data: { a: "1", b: "int" } },
  })),
  {
    name: "sets-an-optional",
    mutations: [`[JSONPatch{op: "add", path: "/data/b", value: optional.of('2')}]`],
    found: { data: { a: "1", b: "2" } },
  },
  {
    name: "ignores-a-value-without-a-form-in-json",
    mutations: ["Object{immutable: quantity('1k')}"],
    failurePolicy: "Ignore",
    found: { data: { a: "1" } },
  },
  {
    name: "fails",
    mutations: ["Object{data: {'b': object.no}}"],
    found: denied("fails", "expression 'Object{data: {'b': object.no}}' resulted in error: no such key: no"),
  },
  {
    name: "unknown-field",
    mutations: ["Object{spec: Object.spec{x: 1}}"],
    found: denied("unknown-field", `${untyped}.spec: field not declared in schema`),
  },
  {
    name: "wrong-position",
    mutations: ["Object{data: Object.spec{x: '1'}}"],
    found: denied(
      "wrong-position",
      'type mismatch: unexpected type name "Object.spec", expected "Object.data", which matches field name path from root Object type',
    ),
  },
  {
    name: "null",
    mutations: ["Object{data: null}"],
    found: denied("null", `${untyped}.data: expected map, got &{NULL_VALUE}`),
  },
  {
    name: "bytes",
    mutations: ["Object{binaryData: {'b': b'ab'}}"],
    found: denied(
      "bytes",
      `${untyped}.binaryData.b: expected string, got &value.valueUnstructured{Value:[]uint8{0x61, 0x62}}`,
    ),
  },
  {
    name: "atomic",
    resource: "deployments",
    mutations: [
      "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}, template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'main', args: ['a']}]}}}}",
    ],
    found: denied(
      "atomic",
      `${applied}invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector, .spec.template.spec.containers[0].args`,
    ),
  },
  {
    name: "strict",
    resource: "deployments",
    mutations: [`[JSONPatch{op: "add", path: "/spec/nope", value: 1}]`],
    found: [500, "InternalError", strict],
  },
  {
    name: "out-of-budget",
    mutations: [
      "Object{data: {'b': ['a','b','c','d','e','f','g','h','i','j'].map(x, ['a','b','c','d','e','f','g','h','i','j'].map(x, ['a','b','c','d','e','f','g','h','i','j'].map(x, ['a','b','c','d','e','f','g','h','i','j'].map(x, ['a','b','c','d','e','f','g','h','i','j'].map(x, x).join('')).join('')).join('')).join('')).join('')}}",
    ],
    failurePolicy: "Ignore",
    found: { data: { a: "1" } },
  },
];

// biome-ignore lint/suspicious/noExplicitAny: a decoded answer.
const at = (object: any, path: string): unknown => path.split(".").reduce((value, key) => value?.[key], object);

for (const { name, resource, found, ...spec } of rows) {
  test(`a mutating policy: ${name}`, async () => {
    await created("/api/v1/namespaces", { metadata: { name } });
    await policy(name, name, resource ?? "configmaps", spec);
    const [path, body] =
      resource === undefined
        ? ["/api/v1", { metadata: { name: "a" }, data: { a: "1" } }]
        : ["/apis/apps/v1", deployment];
    const answer = await client.send({
      method: "POST",
      path: `${path}/namespaces/${name}/${resource ?? "configmaps"}`,
      body,
    });
    if (Array.isArray(found)) {
      const { code, reason, message } = answer.body;
      return assert.deepEqual([code, reason, message], found);
    }
    for (const [place, value] of Object.entries(found)) assert.deepEqual(at(answer.body, place), value, answer.text);
  });
}

test("policies run in the order of their names, and again if a later one changes the object", async () => {
  await created("/api/v1/namespaces", { metadata: { name: "ordered" } });
  const seen = "Object{data: {'seen': object.data.map(k, k).join('')}}";
  await policy("ordered-1", "ordered", "configmaps", { mutations: [seen], reinvocationPolicy: "IfNeeded" });
  await policy("ordered-2", "ordered", "configmaps", { mutations: ["Object{data: {'b': '1'}}"] });
  const body = { metadata: { name: "a" }, data: { a: "1" } };
  const answer = await client.send({ method: "POST", path: "/api/v1/namespaces/ordered/configmaps", body });
  assert.deepEqual(answer.body.data, { a: "1", b: "1", seen: "abseen" });
  const { text } = await client.send({ path: "/metrics" });
  const labels = 'policy="ordered-1",policy_binding="ordered-1",error_type="no_error"';
  assert.ok(text.includes(`apiserver_mutating_admission_policy_check_total{${labels}} 2\n`));
});
