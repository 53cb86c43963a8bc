/** Bodies in YAML. The texts are upstream's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../testing/api-client.ts";
import { openMemoryRegistry } from "../../testing/memory-registry.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const unreadable = "the object provided is unrecognized (must be of type ConfigMap): ";
const unfit = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';

/** A request with a body in YAML, its answer's status, and a Status's message, the warnings, or a part of the body. */
const rows: readonly (readonly [request: string, body: string, status: number, want: string | readonly string[] | object])[] = [
  [`POST ${maps}`, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: 'yes'\n", 201, { data: { k: "yes" } }],
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
  [`POST ${maps}`, "metadata:\n  name: e\ndata:\n  a: x\n  a: z\nfoo: 1\n", 201, ['line 5: key "a" already set in map', 'unknown field "foo"']],
  [
    `POST ${maps}?fieldValidation=Strict`,
    "metadata:\n  name: f\ndata:\n  a: x\n  a: z\nfoo: 1\n",
    400,
    `${unfit}strict decoding error: yaml: unmarshal errors:\n  line 5: key "a" already set in map, unknown field "foo"`,
  ],
  [`POST ${maps}?fieldValidation=Ignore`, "metadata:\n  name: g\ndata:\n  a: x\n  a: z\nfoo: 1\n", 201, []],
  [`POST ${maps}`, "metadata:\n  name: h\n  generation: 1.0\n  annotations: &a\n    k: v\n  labels: *a\n", 201, { metadata: { labels: { k: "v" } } }],
  [`PUT ${maps}/a`, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {k: w}\n", 200, { data: { k: "w" } }],
  [`PUT ${maps}/a`, "metadata: {name: other}\n", 400, "the name of the object (other) does not match the name on the URL (a)"],
  [`DELETE ${maps}/a`, "kind: DeleteOptions\napiVersion: v1\ndryRun: [All]\n", 200, { status: "Success" }],
  [`DELETE ${maps}/a`, "preconditions: {uid: other}\n", 409, {}],
  [`DELETE ${maps}/a`, "a: [", 400, "yaml: line 1: did not find expected node content"],
  [`DELETE ${maps}/a`, "gracePeriodSeconds: 0\n", 200, { status: "Success" }],
  [`GET ${maps}/a`, "", 404, 'configmaps "a" not found'],
];

test("bodies in YAML are read on every write", async () => {
  const { registry, close } = await openMemoryRegistry();
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "default" } });
  for (const [request, body, status, want] of rows) {
    const answer = await send(registry, request, body, { "content-type": "application/yaml" });
    const where = `${request} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`;
    assert.equal(answer.status, status, where);
    if (typeof want === "string") assert.equal(answer.body.message, want, where);
    else if (Array.isArray(want)) assert.deepEqual(answer.warnings, want.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(", "), where);
    else assert.partialDeepStrictEqual(answer.body, want, where);
  }
  await close();
});
