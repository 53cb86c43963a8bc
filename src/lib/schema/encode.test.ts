import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeAny, encodeObject, encodeValue } from "./encode.ts";

const core = (name: string) => builtinSchema(`io.k8s.api.core.v1.${name}`);

/** As Go writes the structs of k8s.io/api v0.36. */
const objectRows: [what: string, definition: string, object: object, json: string][] = [
  [
    "struct order",
    "io.k8s.api.core.v1.ConfigMap",
    { data: { a: "1" }, metadata: { name: "x" }, apiVersion: "v1", kind: "ConfigMap" },
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"1"}}',
  ],
  [
    "keys of maps sorted by their bytes",
    "io.k8s.api.core.v1.ConfigMap",
    { data: { "\u{1f600}": "", b: "", "10": "", "9": "", "\uffee": "", a: "" } },
    '{"metadata":{},"data":{"10":"","9":"","a":"","b":"","\uffee":"","\u{1f600}":""}}',
  ],
  [
    "structs are never empty",
    "io.k8s.api.core.v1.Service",
    {},
    '{"metadata":{},"spec":{},"status":{"loadBalancer":{}}}',
  ],
  [
    "lists without omitempty",
    "io.k8s.api.core.v1.Pod",
    { spec: { containers: [] } },
    '{"metadata":{},"spec":{"containers":null},"status":{}}',
  ],
  [
    "pointers keep zero",
    "io.k8s.api.apps.v1.Deployment",
    { spec: { replicas: 0, paused: false } },
    '{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
  ],
  ["special types are structs too", "io.k8s.api.core.v1.ServicePort", {}, '{"port":0,"targetPort":0}'],
  [
    "times",
    "io.k8s.api.core.v1.PodCondition",
    { type: "", status: "True" },
    '{"type":"","status":"True","lastProbeTime":null,"lastTransitionTime":null}',
  ],
  [
    "untyped values",
    "io.k8s.api.apps.v1.ControllerRevision",
    { data: { b: "<", a: [1, null, 2n ** 60n] }, revision: 2n ** 60n },
    '{"metadata":{},"data":{"b":"\\u003c","a":[1,null,1152921504606846976]},"revision":1152921504606846976}',
  ],
  ["absent untyped values", "io.k8s.api.apps.v1.ControllerRevision", {}, '{"metadata":{},"data":null,"revision":0}'],
  [
    "escapes",
    "io.k8s.api.core.v1.ConfigMap",
    { data: { k: '<>&\u2028\u2029"\\\b\f\n\r\t\u0001\u007fé\ud800' } },
    '{"metadata":{},"data":{"k":"\\u003c\\u003e\\u0026\\u2028\\u2029\\"\\\\\\b\\f\\n\\r\\t\\u0001\u007fé\ufffd"}}',
  ],
];

for (const [what, definition, object, json] of objectRows) {
  test(what, () => {
    const encoded = encodeObject(object, builtinSchema(definition)).json;
    assert.equal(encoded.toString(), json);
    assert.equal(encoded.buffer.byteLength, encoded.length, "its memory is its own");
  });
}

const head = '{"kind":"ConfigMap","apiVersion":"v1",';

const offsetRows: [what: string, object: Record<string, unknown>, spliced: string, item: string][] = [
  [
    "a stored object",
    {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "é", uid: "u", resourceVersion: "7", creationTimestamp: "2020-01-01T00:00:00Z" },
    },
    `${head}"metadata":{"name":"é","uid":"u",RV"creationTimestamp":"2020-01-01T00:00:00Z"}}`,
    '{"metadata":{"name":"é","uid":"u","creationTimestamp":"2020-01-01T00:00:00Z"}}',
  ],
  [
    "no metadata after resourceVersion",
    { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" } },
    `${head}"metadata":{RV"name":"a"}}`,
    '{"metadata":{"name":"a"}}',
  ],
  [
    "no metadata before resourceVersion",
    { metadata: { labels: { a: "b" } } },
    '{"metadata":{RV"labels":{"a":"b"}}}',
    '{"metadata":{"labels":{"a":"b"}}}',
  ],
];

for (const [what, object, spliced, item] of offsetRows) {
  test(`offsets: ${what}`, () => {
    const { json, versionOffset, itemOffset } = encodeObject(object, core("ConfigMap"));
    assert.equal(`${json.subarray(0, versionOffset)}RV${json.subarray(versionOffset)}`, spliced);
    assert.equal(`{${json.subarray(itemOffset)}`, item);
  });
}

test("has no version offset for empty metadata, and keeps the version of lists", () => {
  assert.equal(encodeObject({}, core("ConfigMap")).versionOffset, 0);
  const list = encodeObject({ metadata: { resourceVersion: "5" }, items: [] }, core("ConfigMapList"));
  assert.equal(list.json.toString(), '{"metadata":{"resourceVersion":"5"},"items":null}');
});

test("any value", () => {
  const value = JSON.parse('{"b":[1.5,1e21,-0.0000001,"<",null,true],"__proto__":{"a":1}}');
  assert.equal(
    encodeAny({ ...value, big: 2n ** 70n, gone: undefined }),
    '{"b":[1.5,1e+21,-1e-7,"\\u003c",null,true],"__proto__":{"a":1},"big":1180591620717411303424}',
  );
  assert.equal(
    encodeValue(["a"], { kind: "list", items: { kind: "string" }, listType: "atomic", mapKeys: [] }),
    '["a"]',
  );
});
