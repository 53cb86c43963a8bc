import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { conform, decodeJson, retainedDepthMax } from "./decode.ts";
import type { Struct } from "./schema.ts";

function kind(apiVersion: string, name: string): Struct {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return builtinSchema(definitionOf(group as string, version as string, name) as string);
}

/** Go's answers: sigs.k8s.io/json with the types of k8s.io/api v0.36. */
const rejectedRows: [kind: [string, string], text: string, message: string][] = [
  [
    ["v1", "ConfigMap"],
    '{"data":{"a":1}}',
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  ],
  [
    ["v1", "ConfigMap"],
    '{"data":[]}',
    "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
  ],
  [
    ["v1", "ConfigMap"],
    '{"immutable":"x"}',
    "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":"x"}',
    "json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":[]}',
    "json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"labels":{"a":1}}}',
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"generation":"1"}}',
    "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.generation of type int64",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"generation":1.0}}',
    "json: cannot unmarshal number 1.0 into Go struct field ObjectMeta.metadata.generation of type int64",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"generation":9223372036854775808}}',
    "json: cannot unmarshal number 9223372036854775808 into Go struct field ObjectMeta.metadata.generation of type int64",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"uid":5}}',
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID",
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"creationTimestamp":"x"}}',
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    ["v1", "ConfigMap"],
    '{"metadata":{"creationTimestamp":5}}',
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
  ],
  [["v1", "ConfigMap"], '{"binaryData":{"a":"!"}}', "illegal base64 data at input byte 0"],
  // Every occurrence of a repeated field is checked.
  [
    ["v1", "ConfigMap"],
    '{"data":{"a":1,"a":"x"}}',
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  ],
  [
    ["v1", "ConfigMap"],
    '{"data":5,"data":{},"immutable":"x"}',
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
  ],
  [
    ["v1", "ConfigMap"],
    '{"binaryData":{"a":{}}}',
    "json: cannot unmarshal object into Go struct field ConfigMap.binaryData of type []uint8",
  ],
  // An error of an UnmarshalJSON method ends the decoding and wins over earlier mismatches.
  [
    ["v1", "ConfigMap"],
    '{"data":{"a":1},"metadata":{"creationTimestamp":""}}',
    'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"',
  ],
  [
    ["v1", "ConfigMap"],
    '{"data":{"a":1,"b":true},"immutable":"x"}',
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  ],
  [
    ["apps/v1", "Deployment"],
    '{"spec":{"replicas":3000000000}}',
    "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    ["v1", "ServiceAccount"],
    '{"secrets":{}}',
    "json: cannot unmarshal object into Go struct field ServiceAccount.secrets of type []v1.ObjectReference",
  ],
  [
    ["v1", "Pod"],
    '{"spec":{"containers":[5]}}',
    "json: cannot unmarshal number into Go struct field PodSpec.spec.containers of type v1.Container",
  ],
  [
    ["v1", "Pod"],
    '{"spec":{"volumes":[{"hostPath":{"path":1}}]}}',
    "json: cannot unmarshal number into Go struct field HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.path of type string",
  ],
  [
    ["v1", "Pod"],
    '{"spec":{"overhead":5}}',
    "json: cannot unmarshal number into Go struct field PodSpec.spec.overhead of type v1.ResourceList",
  ],
  [
    ["v1", "Pod"],
    '{"spec":{"overhead":{"cpu":true}}}',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    ["v1", "Service"],
    '{"spec":{"type":5}}',
    "json: cannot unmarshal number into Go struct field ServiceSpec.spec.type of type v1.ServiceType",
  ],
  [
    ["v1", "Service"],
    '{"spec":{"ipFamilies":[5]}}',
    "json: cannot unmarshal number into Go struct field ServiceSpec.spec.ipFamilies of type v1.IPFamily",
  ],
  [
    ["v1", "Service"],
    '{"spec":{"ports":[{"targetPort":1.5}]}}',
    "json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32",
  ],
  [
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":5}}}]}}',
    "boolean or JSON schema expected",
  ],
];

for (const [[apiVersion, name], text, message] of rejectedRows) {
  test(`${name} rejects ${text}`, () =>
    assert.throws(() => decodeJson(Buffer.from(text), kind(apiVersion, name)), { name: "DecodeError", message }));
}

const acceptedRows: [what: string, kind: [string, string], text: string, object: unknown, problems: string[]][] = [
  [
    "removes unknown fields",
    ["v1", "ConfigMap"],
    '{"nope":{"a":1},"metadata":{"x":1},"data":{"a":"1"}}',
    { metadata: {}, data: { a: "1" } },
    ["unknown nope", "unknown metadata.x"],
  ],
  ["names are case-sensitive", ["v1", "ConfigMap"], '{"Data":{"a":"1"}}', {}, ["unknown Data"]],
  [
    "reports list indexes of unknown fields",
    ["v1", "Pod"],
    '{"spec":{"containers":[{},{"x":1}]}}',
    { spec: { containers: [{}, {}] } },
    ["unknown spec.containers[1].x"],
  ],
  [
    "reports repeated fields in order",
    ["v1", "ConfigMap"],
    '{"nope":1,"data":{"z":"1","z":"2"}}',
    { data: { z: "2" } },
    ["unknown nope", "duplicate data.z"],
  ],
  [
    "merges repeated structs and maps",
    ["v1", "ConfigMap"],
    '{"data":{"a":"1"},"data":{"b":"2"}}',
    { data: { a: "1", b: "2" } },
    ["duplicate data"],
  ],
  [
    "merges the items of repeated lists",
    ["v1", "Pod"],
    '{"spec":{"containers":[{"name":"a","image":"x","env":[{"name":"e","value":"1"}]},{"name":"c"}],"containers":[{"name":"b"}]}}',
    { spec: { containers: [{ name: "b", image: "x", env: [{ name: "e", value: "1" }] }] } },
    ["duplicate spec.containers"],
  ],
  [
    "keeps an item of a repeated list that is null",
    ["v1", "Pod"],
    '{"spec":{"containers":[{"name":"a","image":"x"}],"containers":[null]}}',
    { spec: { containers: [{ name: "a", image: "x" }] } },
    ["duplicate spec.containers"],
  ],
  [
    "a repeated field with null keeps the scalar",
    ["v1", "ConfigMap"],
    '{"metadata":{"name":"a","name":null}}',
    { metadata: { name: "a" } },
    ["duplicate metadata.name"],
  ],
  [
    "does not report repeated keys in untyped values",
    ["apps/v1", "ControllerRevision"],
    '{"data":{"a":1,"a":2}}',
    { data: { a: 2 } },
    [],
  ],
  [
    "null means absent",
    ["v1", "ConfigMap"],
    '{"data":null,"immutable":null,"metadata":{"name":null}}',
    { metadata: {} },
    [],
  ],
  [
    "null in a list or map becomes the zero value",
    ["v1", "ConfigMap"],
    '{"data":{"a":null},"metadata":{"ownerReferences":[null]}}',
    { data: { a: "" }, metadata: { ownerReferences: [{}] } },
    [],
  ],
  [
    "quantities",
    ["v1", "Pod"],
    '{"spec":{"overhead":{"a":"1000m","b":0.5,"c":1e3,"d":null}}}',
    { spec: { overhead: { a: "1", b: "500m", c: "1e3", d: "0" } } },
    [],
  ],
  [
    "times",
    ["v1", "ConfigMap"],
    '{"metadata":{"creationTimestamp":"2020-01-01T01:00:00.9+01:00"}}',
    { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } },
    [],
  ],
  [
    "the zero time means absent",
    ["v1", "ConfigMap"],
    '{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}',
    { metadata: {} },
    [],
  ],
  [
    "int or string",
    ["v1", "Service"],
    '{"spec":{"ports":[{"targetPort":"http"},{"targetPort":80},{"targetPort":null}]}}',
    { spec: { ports: [{ targetPort: "http" }, { targetPort: 80 }, {}] } },
    [],
  ],
  [
    "bytes",
    ["v1", "Secret"],
    '{"data":{"a":"YW\\nJj","b":"YR==","c":[1,255],"d":null}}',
    { data: { a: "YWJj", b: "YQ==", c: "Af8=", d: "" } },
    [],
  ],
  [
    "int64 beyond 2^53",
    ["v1", "ConfigMap"],
    '{"metadata":{"generation":9223372036854775807}}',
    { metadata: { generation: 2n ** 63n - 1n } },
    [],
  ],
  [
    "numbers in untyped values",
    ["apps/v1", "ControllerRevision"],
    '{"data":{"a":1.5,"b":9223372036854775807}}',
    { data: { a: 1.5, b: 2n ** 63n - 1n } },
    [],
  ],
  [
    "a schema or a list",
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"items":{"type":"x","y":1},"additionalProperties":true}}}]}}',
    { spec: { versions: [{ schema: { openAPIV3Schema: { items: { type: "x" }, additionalProperties: true } } }] } },
    [],
  ],
];

for (const [what, [apiVersion, name], text, object, problems] of acceptedRows) {
  test(what, () => {
    const decoded = decodeJson(Buffer.from(text), kind(apiVersion, name));
    const expected = problems.map((problem) => problem.replace(/^(\w+) (.*)$/, '$1 field "$2"'));
    assert.deepEqual(decoded, { object, problems: expected });
    assert.deepEqual(
      conform(decoded.object, kind(apiVersion, name)),
      { object, problems: [] },
      "a decoded object conforms",
    );
  });
}

test("__proto__ and constructor are unknown fields, or keys of maps", () => {
  const text = '{"__proto__":{"data":1},"constructor":1,"data":{"__proto__":"x","constructor":"y"}}';
  const { object, problems } = decodeJson(Buffer.from(text), kind("v1", "ConfigMap"));
  assert.deepEqual(problems, ['unknown field "__proto__"', 'unknown field "constructor"']);
  assert.deepEqual(Object.entries(object.data as object), [
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
});

test("reports at most 100 problems", () => {
  const members = Array.from({ length: 300 }, (_, index) => `"x${index}":1`);
  assert.equal(decodeJson(Buffer.from(`{${members}}`), kind("v1", "ConfigMap")).problems.length, 100);
});

const nest = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

const depthRows: [what: string, kind: [string, string], text: string, error: string | undefined][] = [
  [
    "unknown fields may have as many levels as JSON text",
    ["v1", "ConfigMap"],
    `{"x":${nest('{"a":', "}", 9_998)}}`,
    undefined,
  ],
  [
    "untyped values that are kept may not",
    ["apps/v1", "ControllerRevision"],
    `{"data":${nest("[", "]", retainedDepthMax + 1)}}`,
    "exceeded max depth of 1000",
  ],
  [
    "untyped values within the limit",
    ["apps/v1", "ControllerRevision"],
    `{"data":${nest("[", "]", retainedDepthMax - 10)}}`,
    undefined,
  ],
  [
    "recursive types may not",
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
    `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${'{"properties":{"a":'.repeat(4_000)}{}${"}}".repeat(4_000)}}}]}}`,
    "exceeded max depth of 1000",
  ],
  [
    "other forms of recursive types may not",
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
    `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${'{"items":'.repeat(4_000)}{}${"}".repeat(4_000)}}}]}}`,
    "exceeded max depth of 1000",
  ],
];

for (const [what, [apiVersion, name], text, error] of depthRows) {
  test(`depth: ${what}`, () => {
    const run = (): unknown => decodeJson(Buffer.from(text), kind(apiVersion, name));
    if (error === undefined) run();
    else assert.throws(run, { name: "DecodeError", message: error });
  });
}

test("rejects a value that is not an object", () => {
  assert.throws(() => conform([], kind("v1", "ConfigMap")), {
    message: "json: cannot unmarshal array into Go value of type v1.ConfigMap",
  });
});
