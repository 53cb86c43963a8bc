/** A custom resource with every feature of schemas that reads values: embedded resources, lists, rules, numbers. */
import type { Step } from "../contract.ts";
import type { Random } from "../random.ts";

type Json = Record<string, unknown>;

const group = "$ns.example.com";
const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const text = { type: "string" };
const item = { type: "object", required: ["name"], properties: { name: text, value: { type: "integer" }, embedded } };
const replicas = { type: "integer", format: "int32", minimum: 0 };
const transitionRules = [
  { rule: "!oldSelf.hasValue() || self.size() >= oldSelf.value().size()", optionalOldSelf: true },
];
const properties: Json = {
  replicas,
  number: { type: "number", multipleOf: 0.01 },
  limited: { type: "integer", minimum: 1, maximum: 1000, default: 5 },
  either: { "x-kubernetes-int-or-string": true },
  free: { "x-kubernetes-preserve-unknown-fields": true },
  embedded,
  text: { type: "string", maxLength: 20, pattern: "^[a-z]*$", nullable: true },
  time: { type: "string", format: "date-time" },
  bytes: { type: "string", format: "byte" },
  set: { type: "array", "x-kubernetes-list-type": "set", items: text },
  map: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], items: item },
  atomic: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "array", items: replicas } },
  whole: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
  labels: {
    type: "object",
    additionalProperties: { type: "string", maxLength: 20 },
    maxProperties: 5,
    "x-kubernetes-validations": transitionRules,
  },
  ruled: {
    type: "object",
    properties: { a: { type: "integer" }, b: text },
    "x-kubernetes-validations": [
      { rule: "!has(self.a) || self.a < 10", messageExpression: "'a is ' + string(self.a)", fieldPath: ".a" },
      { rule: "!has(oldSelf.a) || (has(self.a) && self.a >= oldSelf.a)" },
      { rule: "oldSelf.hasValue() || !has(self.b)", optionalOldSelf: true },
    ],
  },
};
const status = {
  type: "object",
  properties: { replicas, selector: text, embedded, free: { "x-kubernetes-preserve-unknown-fields": true } },
};

const definition: Json = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties }, status } } },
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.replicas",
          labelSelectorPath: ".status.selector",
        },
      },
      selectableFields: [{ jsonPath: ".spec.text" }],
      additionalPrinterColumns: [
        { name: "Number", type: "number", jsonPath: ".spec.number" },
        { name: "Time", type: "date", jsonPath: ".spec.time" },
      ],
    })),
  },
};

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", labels: { a: "b" }, annotations: { a: "b" } },
  spec: { containers: [] },
};

/** Objects of it, which are valid. */
export const damagedThing = {
  collection: `/apis/${group}/v1/namespaces/$ns/things`,
  object: {
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name: "a", labels: { a: "b" } },
    spec: {
      replicas: 1,
      number: 1.5,
      limited: 3,
      either: "50%",
      free: { a: [1, { b: null }], metadata: { name: 1 } },
      embedded: pod,
      text: "abc",
      time: "2020-01-01T00:00:00Z",
      bytes: "YQ==",
      set: ["a", "b"],
      map: [{ name: "a", value: 1, embedded: pod }, { name: "b" }],
      atomic: [[1, 2], []],
      whole: { a: "b" },
      labels: { a: "b" },
      ruled: { a: 1, b: "c" },
    },
    status: { replicas: 1, selector: "a=b", embedded: pod, free: [1] },
  } as Json,
  scale: {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a" },
    spec: { replicas: 2 },
    status: { replicas: 1 },
  } as Json,
} as const;

/** Creates the definition and an object, when it is served. */
export function thingSteps(random: Random): Step[] {
  const { collection, object } = damagedThing;
  const { ruled: _ruled, ...spec } = object.spec as Json;
  const first = random.chance(0.5) ? object : { ...object, spec };
  return [
    {
      id: "definition",
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      body: definition,
    },
    { method: "GET", path: collection, until: 200, after: "definition", silent: true },
    { method: "POST", path: collection, body: first },
  ];
}
