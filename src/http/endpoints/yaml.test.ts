/** Bodies and answers in YAML. The texts are upstream's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { ask } from "../../../test/support/request-context.ts";
import { negotiate } from "../representation/negotiate.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const unreadable = "the object provided is unrecognized (must be of type ConfigMap): ";
const unfit = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';

/**
 * A request with a body in YAML, its answer's status, and a Status's message, the warnings, or a
 * part of the body.
 */
const rows: readonly (readonly [
  request: string,
  body: string,
  status: number,
  want: string | readonly string[] | object,
])[] = [
  [
    `POST ${maps}`,
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: 'yes'\n",
    201,
    { data: { k: "yes" } },
  ],
  [`POST ${maps}`, "metadata:\n  name: b\n---\nmetadata:\n  name: c\n", 201, { metadata: { name: "b" } }],
  [`POST ${maps}`, "a: [", 400, `${unreadable}yaml: line 1: did not find expected node content (613a205b)`],
  [
    `POST ${maps}`,
    "- a",
    400,
    `${unreadable}couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`} (2d2061)`,
  ],
  [
    `POST ${maps}`,
    "kind: 5\n",
    400,
    `${unreadable}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string (6b696e643a20350a)`,
  ],
  [`POST ${maps}`, "", 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
  [
    `POST ${maps}`,
    "metadata: {name: d}\ndata: {k: 5}\n",
    400,
    `${unfit}json: cannot unmarshal number into Go struct field ConfigMap.data of type string`,
  ],
  [
    `POST ${maps}`,
    "metadata: {name: d}\ndata: {k: on}\n",
    400,
    `${unfit}json: cannot unmarshal bool into Go struct field ConfigMap.data of type string`,
  ],
  [
    `POST ${maps}`,
    "metadata:\n  name: e\ndata:\n  a: x\n  a: z\nfoo: 1\n",
    201,
    ['line 5: key "a" already set in map', 'unknown field "foo"'],
  ],
  [
    `POST ${maps}?fieldValidation=Strict`,
    "metadata:\n  name: f\ndata:\n  a: x\n  a: z\nfoo: 1\n",
    400,
    `${unfit}strict decoding error: yaml: unmarshal errors:\n  line 5: key "a" already set in map, unknown field "foo"`,
  ],
  [`POST ${maps}?fieldValidation=Ignore`, "metadata:\n  name: g\ndata:\n  a: x\n  a: z\nfoo: 1\n", 201, []],
  [
    `POST ${maps}`,
    "metadata:\n  name: h\n  generation: 1.0\n  annotations: &a\n    k: v\n  labels: *a\n",
    201,
    { metadata: { labels: { k: "v" } } },
  ],
  [`PUT ${maps}/a`, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {k: w}\n", 200, { data: { k: "w" } }],
  [
    `PUT ${maps}/a`,
    "metadata: {name: other}\n",
    400,
    "the name of the object (other) does not match the name on the URL (a)",
  ],
  [`DELETE ${maps}/a`, "kind: DeleteOptions\napiVersion: v1\ndryRun: [All]\n", 200, { status: "Success" }],
  [`DELETE ${maps}/a`, "preconditions: {uid: other}\n", 409, {}],
  [`DELETE ${maps}/a`, "a: [", 400, "yaml: line 1: did not find expected node content"],
  [`DELETE ${maps}/a`, "gracePeriodSeconds: 0\n", 200, { status: "Success" }],
  [`GET ${maps}/a`, "", 404, 'configmaps "a" not found'],
];

test("accepts YAML bodies for every write", async () => {
  const { registry, close } = await openMemoryRegistry();
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "default" } });
  for (const [request, body, status, want] of rows) {
    const answer = await send(registry, request, body, { "content-type": "application/yaml" });
    const where = `${request} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`;
    assert.equal(answer.status, status, where);
    if (typeof want === "string") assert.equal(answer.body.message, want, where);
    else if (Array.isArray(want))
      assert.deepEqual(answer.warnings, want.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(", "), where);
    else assert.partialDeepStrictEqual(answer.body, want, where);
  }
  await close();
});

const yaml = { accept: "application/yaml" };
const tables = "as=Table;v=v1;g=meta.k8s.io";

/**
 * A request, what it accepts, and what it gets: a status, a type of content, and a text or a part
 * of it.
 */
const answers: readonly (readonly [
  request: string,
  accept: string,
  status: number,
  contentType: string,
  text: string | RegExp,
])[] = [
  [
    `GET ${maps}/a`,
    "application/yaml",
    200,
    "application/yaml",
    /^apiVersion: v1\nbinaryData:\n {2}b: AAEC\ndata:\n {2}a: \|-\n {4}x: "y"\n {4}z\n {2}"n": "5"\n {2}t: "true"\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "[\dTZ:-]+"\n {2}labels:\n {4}l: "1"\n {2}name: a\n {2}namespace: default\n {2}resourceVersion: "\d+"\n {2}uid: [0-9a-f-]+\n$/,
  ],
  [`GET ${maps}/a`, "text/html, application/yaml", 200, "application/yaml", /^apiVersion: v1\n/],
  [`GET ${maps}/a`, "application/json;q=0.1,application/yaml", 200, "application/yaml", /^apiVersion: v1\n/],
  [`GET ${maps}/a`, "application/json,application/yaml", 200, "application/json", /^\{"kind"/],
  [
    `GET ${maps}`,
    "application/yaml",
    200,
    "application/yaml",
    /^apiVersion: v1\nitems:\n- binaryData:\n {4}b: AAEC\n[\s\S]*\nkind: ConfigMapList\nmetadata:\n {2}resourceVersion: "\d+"\n$/,
  ],
  [
    "GET /api/v1/namespaces/default/secrets",
    "application/yaml",
    200,
    "application/yaml",
    /^apiVersion: v1\nitems: \[\]\nkind: SecretList\nmetadata:\n {2}resourceVersion: "\d+"\n$/,
  ],
  [
    `GET ${maps}/none`,
    "application/yaml",
    404,
    "application/yaml",
    'apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: none\nkind: Status\nmessage: configmaps "none" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n',
  ],
  [
    `GET ${maps}/a`,
    `application/yaml;${tables}`,
    200,
    "application/yaml",
    /^apiVersion: meta\.k8s\.io\/v1\ncolumnDefinitions:\n- description: [\s\S]*\nkind: Table\n[\s\S]*\nrows:\n- cells:\n {2}- a\n {2}- 4\n/,
  ],
  [`GET ${maps}`, `application/yaml;${tables}`, 200, "application/yaml", /\nkind: Table\n[\s\S]*\nrows:\n- cells:\n/],
  [
    `GET ${maps}/a`,
    "application/cbor",
    406,
    "application/json",
    /Available representations: application\/json, application\/yaml, application\/vnd.kubernetes.protobuf/,
  ],
  [
    `GET ${maps}/a`,
    `application/yaml;as=Odd;v=v1;g=meta.k8s.io`,
    406,
    "application/json",
    /only the following media types are accepted: application\/json, application\/yaml, application\/vnd.kubernetes.protobuf/,
  ],
  [
    `DELETE ${maps}/a?dryRun=All`,
    "application/yaml",
    200,
    "application/yaml",
    /^apiVersion: v1\ndetails:\n {2}kind: configmaps\n {2}name: a\n {2}uid: [0-9a-f-]+\nkind: Status\nmetadata: \{\}\nstatus: Success\n$/,
  ],
];

test("encodes YAML as upstream", async () => {
  const { registry, close } = await openMemoryRegistry();
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "default" } });
  const data = { a: 'x: "y"\nz', n: "5", t: "true" };
  const created = await send(
    registry,
    `POST ${maps}`,
    { metadata: { name: "a", labels: { l: "1" } }, data, binaryData: { b: "AAEC" } },
    yaml,
  );
  assert.match(created.body, /^apiVersion: v1\nbinaryData:\n/);
  await send(registry, `MERGE ${maps}/a`, { metadata: { managedFields: [{}] } });
  for (const [request, accept, status, contentType, text] of answers) {
    const answer = await send(registry, request, undefined, { accept });
    const shown = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    const where = `${request} ${accept}: ${shown}`;
    assert.equal(answer.status, status, where);
    assert.equal(answer.contentType, contentType, where);
    if (typeof text === "string") assert.equal(shown, text, where);
    else assert.match(shown, text, where);
  }
  await close();
});

test("a watch is not offered in YAML", async () => {
  for (const accept of ["application/yaml", "application/yaml,application/json"]) {
    const asked = ask((context) => void negotiate(context, false), {
      path: `${maps}?watch=1`,
      headers: { accept },
    });
    const message =
      "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
    await assert.rejects(asked, { message }, accept);
  }
});
