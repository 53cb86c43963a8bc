/**
 * Writes with odd values: numbers in every spelling, in a custom resource and in a Deployment, and
 * metadata of the wrong types, at the root and in embedded resources. All are dry runs.
 * `tools/golden/server/odd-bodies.ts` records the answers of a kube-apiserver in
 * `testdata/odd-bodies.json.gz`.
 */
import { eventually } from "../../support/until.ts";

interface OddAnswer {
  readonly status: number;
  readonly text: string;
}

/** @param line method and path @param body JSON text */
export type SendOdd = (line: string, body: string, headers: Readonly<Record<string, string>>) => Promise<OddAnswer>;

/** A request, the code of its answer, and the message or the written parts of the object. */
export type OddRow = readonly [line: string, type: string, body: string, status: number, shown: string];

const plain = "application/json";
const merge = "application/merge-patch+json";
const jsonPatch = "application/json-patch+json";
const strategic = "application/strategic-merge-patch+json";
const apply = "application/apply-patch+yaml";

const group = "odd.example.com";
const things = `/apis/${group}/v1/namespaces/odd/things`;
const deployments = "/apis/apps/v1/namespaces/odd/deployments";
const query = "dryRun=All&fieldManager=odd";

const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const numbers: Readonly<Record<string, object>> = {
  integer: { type: "integer" },
  int32: { type: "integer", format: "int32" },
  replicas: { type: "integer" },
  number: { type: "number" },
  factor: { type: "number", multipleOf: 0.01 },
  limited: { type: "integer", minimum: 1, maximum: 1000 },
  enumeration: { type: "integer", enum: [1, 2] },
  intOrString: { "x-kubernetes-int-or-string": true },
  unknown: { "x-kubernetes-preserve-unknown-fields": true },
  text: { type: "string" },
  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "number" } },
  map: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["key"],
    items: { type: "object", required: ["key"], properties: { key: { type: "integer" } } },
  },
  rule: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 10" }] },
  numberRule: { type: "number", "x-kubernetes-validations": [{ rule: "self < 10.0" }] },
  eitherRule: {
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-validations": [{ rule: "self == 5 || self == 'x'" }],
  },
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { ...numbers, embedded } },
              status: { type: "object", properties: { replicas: { type: "integer" }, embedded } },
            },
          },
        },
      },
    ],
  },
};

const spellings = ["2.0", "1e0", "100.0", "1e16", "9223372036854775808", "-0.0", "1e400"];

interface OddRequest {
  readonly line: string;
  readonly type: string;
  readonly body: string;
}

function thing(metadata: string, rest: string): string {
  return `{"apiVersion":"${group}/v1","kind":"Thing","metadata":${metadata},${rest}}`;
}

function inField(field: string, text: string): string {
  if (field === "set") return `[1,${text}]`;
  return field === "map" ? `[{"key":1},{"key":${text}}]` : text;
}

function numbersOf(field: string): OddRequest[] {
  return spellings.flatMap((text) => {
    const spec = `"spec":{"${field}":${inField(field, text)}}`;
    return [
      { line: `POST ${things}?${query}`, type: plain, body: thing('{"name":"b"}', spec) },
      { line: `PATCH ${things}/a?${query}`, type: merge, body: `{${spec}}` },
      { line: `PATCH ${things}/b?${query}`, type: apply, body: thing('{"name":"b"}', spec) },
    ];
  });
}

const deploymentFields: readonly (readonly [pointer: string, patch: (value: string) => string])[] = [
  ["/spec/replicas", (value) => `{"spec":{"replicas":${value}}}`],
  ["/spec/strategy/rollingUpdate/maxSurge", (value) => `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":${value}}}}}`],
  ["/spec/template/spec/schedulerName", (value) => `{"spec":{"template":{"spec":{"schedulerName":${value}}}}}`],
];

function numbersOfDeployments(): OddRequest[] {
  const line = `PATCH ${deployments}/a?${query}`;
  return deploymentFields.flatMap(([path, patch]) =>
    ["3", "3.0", "1e0", "1.5", "9223372036854775808", "1e400"].flatMap((text) => [
      { line, type: merge, body: patch(text) },
      { line: `${line}&fieldValidation=Ignore`, type: merge, body: patch(text) },
      { line, type: jsonPatch, body: `[{"op":"replace","path":"${path}","value":${text}}]` },
      { line, type: jsonPatch, body: `[{"op":"test","path":"${path}","value":${text}}]` },
      // Upstream keeps the lower bits of larger integers.
      ...(text.length < 9 ? [{ line, type: strategic, body: patch(text) }] : []),
    ]),
  );
}

const wrong = ["null", "1.5", "true", '"x"', "[]", "{}", '{"a":1}', "[null]"];
const metadataFields = ["labels", "managedFields", "creationTimestamp", "generation"];

function metadataOf(field: string): OddRequest[] {
  return wrong.flatMap((value) => {
    const root = (name: string): string => thing(`{"name":"${name}","${field}":${value}}`, '"spec":{"integer":1}');
    const inner = `{"embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"${field}":${value}}}}`;
    return [
      { line: `POST ${things}?${query}`, type: plain, body: root("b") },
      { line: `PATCH ${things}/a?${query}`, type: merge, body: `{"metadata":{"${field}":${value}}}` },
      { line: `PATCH ${things}/a/status?${query}`, type: merge, body: `{"metadata":{"${field}":${value}}}` },
      { line: `PATCH ${things}/b?${query}`, type: apply, body: root("b") },
      { line: `PATCH ${things}/a?${query}&force=true`, type: apply, body: root("a") },
      { line: `PATCH ${things}/b?${query}`, type: apply, body: thing('{"name":"b"}', `"spec":${inner}`) },
      { line: `PATCH ${things}/a?${query}`, type: merge, body: `{"spec":${inner}}` },
      { line: `PATCH ${things}/a/status?${query}`, type: apply, body: thing('{"name":"a"}', `"status":${inner}`) },
    ];
  });
}

function embeddedTypes(): OddRequest[] {
  return wrong.flatMap((value) =>
    [value, `{"apiVersion":${value},"kind":"Pod"}`, `{"apiVersion":"v1","kind":${value}}`].flatMap((inner) => [
      { line: `POST ${things}?${query}`, type: plain, body: thing('{"name":"b"}', `"spec":{"embedded":${inner}}`) },
      { line: `PATCH ${things}/b?${query}`, type: apply, body: thing('{"name":"b"}', `"spec":{"embedded":${inner}}`) },
    ]),
  );
}

/** A PUT or apply that creates, with a resourceVersion. */
function creations(): OddRequest[] {
  return ["1", "0", "x", "-1", "18446744073709551616"].flatMap((version) => {
    const metadata = `"metadata":{"name":"b","resourceVersion":"${version}"}`;
    const lease = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",${metadata},"spec":{}}`;
    const leases = "/apis/coordination.k8s.io/v1/namespaces/odd/leases";
    return [
      { line: `PUT ${leases}/b?${query}`, type: plain, body: lease },
      { line: `PATCH ${leases}/b?${query}`, type: apply, body: lease },
      { line: `PATCH ${things}/b?${query}`, type: apply, body: thing(metadata.slice(11), '"spec":{}') },
    ];
  });
}

/** Sends all requests, after creating the definition, the namespace and the objects. */
export async function sendOddBodies(send: SendOdd): Promise<OddRow[]> {
  await makeObjects(send);
  const requests = [
    ...Object.keys(numbers).flatMap(numbersOf),
    ...numbersOfDeployments(),
    ...metadataFields.flatMap(metadataOf),
    ...embeddedTypes(),
    ...creations(),
  ];
  const rows: OddRow[] = [];
  for (const { line, type, body } of requests) {
    const { status, text } = await send(line, body, { "content-type": type });
    rows.push([line, type, body, status, shownOf(text)]);
  }
  return rows;
}

async function makeObjects(send: SendOdd): Promise<void> {
  const json = { "content-type": plain };
  await send("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON.stringify(definition), json);
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: "odd" } }), json);
  const spec = '"spec":{"integer":2,"int32":2,"replicas":2,"number":2,"unknown":2,"set":[2],"map":[{"key":2}]}';
  await eventually("things are served", async () => {
    const { status } = await send(`POST ${things}?fieldManager=first`, thing('{"name":"a"}', spec), json);
    return status === 201 || status === 409;
  });
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const deployment = { metadata: { name: "a" }, spec: { replicas: 3, selector: { matchLabels: labels }, template } };
  await send(`POST ${deployments}?fieldManager=first`, JSON.stringify(deployment), json);
}

interface Shown {
  readonly kind?: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The message of an error; of an object, what was written, with the spelling of its numbers. */
function shownOf(text: string): string {
  const { kind, message = "", metadata } = JSON.parse(text) as Shown;
  if (kind === "Status") return withoutRandom(message);
  const managers = (metadata?.managedFields ?? []) as readonly {
    readonly manager: string;
    readonly fieldsV1: object;
  }[];
  const owned = managers.filter(({ manager }) => manager === "odd").map(({ fieldsV1 }) => fieldsV1);
  const numbersIn = /"spec": ?(\{.*)\}/s.exec(text)?.[1] ?? "";
  const { managedFields: _managed, uid: _uid, resourceVersion, creationTimestamp: _time, ...rest } = metadata ?? {};
  const hasVersion = resourceVersion !== undefined;
  return JSON.stringify([rest, hasVersion, kind === "Thing" ? numbersIn.replaceAll(/\s/g, "") : "", owned]);
}

function withoutRandom(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replaceAll(/(resourceVersion\\*":\\*")\d+/g, "$1<version>");
}
