/**
 * Patches of every kind: field validation, what is no change, versions, what custom resources take.
 * The texts are upstream's.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { MutableCatalog, ResourceDefinition, StorageForm } from "../../catalog/contract.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const pods = "/api/v1/namespaces/n/pods";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const leases = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

async function withRegistry(run: (registry: Parameters<typeof send>[0]) => Promise<void>): Promise<void> {
  const { registry, create, close } = await openMemoryRegistry();
  await create(["/namespaces", ""], { metadata: { name: "n" } });
  await create(["/configmaps", "n"], { metadata: { name: "a", labels: { l: "1" } }, data: { k: "v", j: "w" } });
  await create(["/pods", "n"], { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  await create(["apps/deployments", "n"], {
    metadata: { name: "d" },
    spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template },
  });
  await run(registry);
  await close();
}

/** Bodies as they are sent, since they repeat keys. */
type ValidationRow = readonly [request: string, body: string, problems: readonly string[]];

/** What is wrong with a patch, in the order it is reported. */
const validation: readonly ValidationRow[] = [
  [
    `PUT ${maps}/a`,
    '{"metadata":{"name":"a","odd":1},"data":{"k":"1","k":"2"},"x":1}',
    ['unknown field "metadata.odd"', 'duplicate field "data.k"', 'unknown field "x"'],
  ],
  [
    `MERGE ${maps}/a`,
    '{"data":{"m":"1","m":"2"},"x":{"y":1,"y":2}}',
    ['duplicate field "data.m"', 'duplicate field "x.y"', 'unknown field "x"'],
  ],
  [`STRATEGIC ${maps}/a`, '{"data":{"m":"1","m":"2"},"x":1}', ['duplicate field "data.m"', 'unknown field "x"']],
  [
    `JSON ${maps}/a`,
    '[{"op":"add","path":"/x","value":1,"value":1},{"op":"add","path":"/metadata/odd","value":1,"more":1}]',
    [
      'json patch duplicate field "[0].value"',
      'json patch unknown field "[1].more"',
      'unknown field "metadata.odd"',
      'unknown field "x"',
    ],
  ],
  [
    `JSON ${maps}/a`,
    '[{"op":"add","path":"/data","value":{"k":"1","k":"2"}},{"op":"copy","from":"/data","path":"/metadata/annotations"}]',
    [
      'json patch duplicate field "[0].value.k"',
      'duplicate field "data.k"',
      'duplicate field "metadata.annotations.k"',
    ],
  ],
  [
    `JSON ${maps}/a`,
    '[{"op":"add","path":"/data","value":{"k":"1","k":"2"}},{"op":"add","path":"/data/m","value":"3"}]',
    ['json patch duplicate field "[0].value.k"'],
  ],
  [
    `JSON ${deployments}/d`,
    '[{"op":"replace","path":"/spec/template/spec/containers/0","value":{"name":"c","image":"x","image":"y","odd":1}}]',
    [
      'json patch duplicate field "[0].value.image"',
      'duplicate field "spec.template.spec.containers[0].image"',
      'unknown field "spec.template.spec.containers[0].odd"',
    ],
  ],
  [
    `STRATEGIC ${deployments}/d`,
    '{"spec":{"template":{"spec":{"containers":[{"name":"c","imagee":"x","env":[{"name":"A","valu":"b"}]}]}}}}',
    [
      'unknown field "spec.template.spec.containers[0].env[0].valu"',
      'unknown field "spec.template.spec.containers[0].imagee"',
    ],
  ],
  [
    `MERGE ${pods}/p`,
    '{"spec":{"containers":[{"name":"c","image":"i","imagee":"x"}],"nodeSelectr":{}}}',
    ['unknown field "spec.containers[0].imagee"', 'unknown field "spec.nodeSelectr"'],
  ],
  [
    `MERGE ${deployments}/d/scale`,
    '{"spec":{"replicas":2,"odd":1},"spec":{"replicas":2,"odd":1}}',
    ['duplicate field "spec"', 'unknown field "spec.odd"'],
  ],
  [
    `PUT ${deployments}/d/scale`,
    '{"metadata":{"name":"d"},"spec":{"replicas":2,"odd":1}}',
    ['unknown field "spec.odd"'],
  ],
  [`MERGE ${deployments}/d/status`, '{"status":{"replicas":1,"odd":1}}', ['unknown field "status.odd"']],
];

for (const [request, body, problems] of validation) {
  test(`field validation: ${request} ${body}`, () =>
    withRegistry(async (registry) => {
      const ignored = await send(registry, `${request}?fieldValidation=Ignore&dryRun=All`, body);
      assert.deepEqual([ignored.status, ignored.warnings], [200, ""], JSON.stringify(ignored.body));
      const warned = await send(registry, `${request}?dryRun=All`, body);
      assert.equal(warned.warnings, problems.map((problem) => `299 - "${problem.replaceAll('"', '\\"')}"`).join(", "));
      assert.equal(warned.status, 200);
      const strict = await send(registry, `${request}?fieldValidation=Strict&dryRun=All`, body);
      assert.equal(strict.status, request.startsWith("PUT") ? 400 : 422);
      assert.equal(strict.warnings, "");
      const said = `strict decoding error: ${problems.join(", ")}`;
      assert.ok(strict.body.message.endsWith(said), strict.body.message);
    }));
}

/**
 * Of many unknown fields, how many are reported, and which come first: those of the text, or by name.
 */
const manyUnknown: readonly (readonly [request: string, body: unknown, reported: number, first: readonly string[]])[] =
  [
    [`PUT ${maps}/a`, { ...(numbered("u", 150) as object), metadata: { name: "a" } }, 100, ["u0", "u1", "u2"]],
    [`MERGE ${maps}/a`, numbered("u", 150), 100, ["u0", "u1", "u10"]],
    [`MERGE ${maps}/a`, { "b\n": 1, bZ: 1, b: 1 }, 3, ["b", "b\\n", "bZ"]],
    [`STRATEGIC ${maps}/a`, numbered("u", 150), 150, ["u0", "u1", "u10"]],
    [`STRATEGIC ${maps}/a`, { "b\n": 1, bZ: 1, b: 1 }, 3, ["b", "bZ", "b\\n"]],
    [
      `JSON ${maps}/a`,
      [
        { op: "add", path: "/metadata/z", value: { b: 1 } },
        { op: "add", path: "/metadata/y", value: 1 },
      ],
      2,
      ["metadata.y", "metadata.z"],
    ],
    [`JSON ${maps}/a`, numbered("u", 150, { op: "test", path: "/data/k", value: "v" }), 100, ["[0].u0", "[0].u1"]],
  ];

function numbered(prefix: string, count: number, operation?: object): unknown {
  const members = Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]));
  return operation === undefined ? members : [{ ...operation, ...members }];
}

test("reports as many unknown fields as upstream, in its order", () =>
  withRegistry(async (registry) => {
    for (const [request, body, reported, first] of manyUnknown) {
      const { message } = (await send(registry, `${request}?fieldValidation=Strict`, body)).body;
      const names = [
        ...message.slice(message.indexOf("strict decoding error")).matchAll(/unknown field "([^"]*)"/g),
      ].map(([, name]) => name);
      assert.deepEqual([names.length, ...names.slice(0, first.length)], [reported, ...first], request);
    }
  }));

/** What cannot be read says nothing else, at any level. */
const fatal: readonly (readonly [request: string, body: string, status: number, message: RegExp])[] = [
  [
    `PUT ${maps}/a`,
    '{"x":1,"metadata":{"name":"a"},"data":{"k":1,"k":2}}',
    400,
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    `MERGE ${maps}/a`,
    '{"x":1,"data":{"k":1,"k":1}}',
    422,
    /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  // What comes first by name.
  [
    `MERGE ${maps}/a`,
    '{"metadata":"y","binaryData":{"a":1}}',
    422,
    /: json: cannot unmarshal number into Go struct field ConfigMap\.binaryData of type \[\]uint8$/,
  ],
  [
    `JSON ${maps}/a`,
    '[{"op":"add","path":"/data/k","value":1,"x":1}]',
    422,
    /: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    `STRATEGIC ${maps}/a`,
    '{"x":1,"data":{"k":1,"k":1}}',
    422,
    /^ "" is invalid: patch: Invalid value: "map\[data:map\[k:1\] x:1\]": cannot convert int64 to string$/,
  ],
  [`MERGE ${maps}/a`, '{"x":1,"kind":"Secret"}', 422, /^(?!.*unknown field)/],
];

for (const [request, body, status, message] of fatal) {
  test(`reports only the first error: ${request} ${body}`, () =>
    withRegistry(async (registry) => {
      for (const level of ["Ignore", "Warn", "Strict"]) {
        const answer = await send(registry, `${request}?fieldValidation=${level}`, body);
        assert.deepEqual([answer.status, answer.warnings], [status, ""], `${level}: ${JSON.stringify(answer.body)}`);
        assert.match(answer.body.message, message, level);
      }
    }));
}

/** What changes nothing. */
const idle: readonly (readonly [request: string, body: unknown])[] = [
  [`MERGE ${maps}/a`, {}],
  [`MERGE ${maps}/a`, { data: { k: "v" } }],
  [`MERGE ${maps}/a`, { data: { none: null }, metadata: { labels: { l: "1" }, annotations: {} } }],
  [`MERGE ${maps}/a`, { metadata: { uid: null, creationTimestamp: null, generation: 7 } }],
  [`JSON ${maps}/a`, []],
  [`JSON ${maps}/a`, [{ op: "test", path: "/data/k", value: "v" }]],
  [`JSON ${maps}/a`, [{ op: "replace", path: "/data/k", value: "v" }]],
  [
    `JSON ${maps}/a`,
    [
      { op: "move", from: "/data/k", path: "/data/z" },
      { op: "move", from: "/data/z", path: "/data/k" },
    ],
  ],
  [`STRATEGIC ${maps}/a`, { data: { k: "v" } }],
  [`STRATEGIC ${maps}/a`, { kind: "Secret", apiVersion: "v2" }],
  [`STRATEGIC ${maps}/a`, { data: { $patch: "replace", j: "w", k: "v" } }],
  [`STRATEGIC ${pods}/p`, { spec: { containers: [{ name: "c", image: "i" }] } }],
  [`STRATEGIC ${pods}/p`, { spec: { containers: [{ name: "gone", $patch: "delete" }] } }],
  [`STRATEGIC ${deployments}/d`, { spec: { template: { spec: { "$setElementOrder/containers": [{ name: "c" }] } } } }],
  [`MERGE ${deployments}/d/status`, { status: {}, spec: { replicas: 9 } }],
  [`MERGE ${deployments}/d`, { status: { replicas: 9 } }],
  [`PUT ${maps}/a`, { metadata: { name: "a", labels: { l: "1" } }, data: { j: "w", k: "v" } }],
];

test("does not write a patch without changes", () =>
  withRegistry(async (registry) => {
    const revision = async (): Promise<string> => (await send(registry, `GET ${maps}`)).body.metadata.resourceVersion;
    const before = await revision();
    for (const [request, body] of idle) {
      const answer = await send(registry, request, body);
      assert.equal(answer.status, 200, `${request}: ${JSON.stringify(answer.body)}`);
      assert.equal(await revision(), before, `${request} ${JSON.stringify(body)}`);
    }
  }));

test("applies all concurrent patches of one object, and rejects one of an older version", () =>
  withRegistry(async (registry) => {
    const { resourceVersion } = (await send(registry, `GET ${maps}/a`)).body.metadata;
    const patches = Array.from({ length: 30 }, (_, at) => {
      if (at % 3 === 0) return send(registry, `JSON ${maps}/a`, [{ op: "add", path: `/data/n${at}`, value: "x" }]);
      return send(registry, `${at % 3 === 1 ? "MERGE" : "STRATEGIC"} ${maps}/a`, { data: { [`n${at}`]: "x" } });
    });
    for (const { status } of await Promise.all(patches)) assert.equal(status, 200);
    assert.equal(Object.keys((await send(registry, `GET ${maps}/a`)).body.data).length, 32);
    for (const request of [`MERGE ${maps}/a`, `STRATEGIC ${maps}/a`]) {
      assert.equal(
        (await send(registry, request, { metadata: { resourceVersion }, data: { k: "late" } })).status,
        409,
        request,
      );
    }
    const operations = [{ op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }];
    assert.equal((await send(registry, `JSON ${maps}/a`, operations)).status, 409);
  }));

const rejected = "the server rejected our request due to an error in our request";

/** Patches that are none, and what they are reported. */
const misshapen: readonly (readonly [request: string, body: unknown, status: number, message: string])[] = [
  [`JSON ${maps}/a`, "", 400, "error decoding patch: unexpected end of JSON input"],
  [
    `JSON ${maps}/a`,
    "[1]",
    400,
    "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
  ],
  [
    `JSON ${maps}/a`,
    [{ op: 1 }],
    400,
    "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
  ],
  [`JSON ${maps}/a`, [{ op: "odd", path: "/data" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "add" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "test", path: "/data/k", value: "other" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "replace", path: "/metadata/finalizers/0", value: "x" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "add", path: "/data/k/deep", value: "x" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "move", from: "/data/none", path: "/data/x" }], 422, rejected],
  [`JSON ${maps}/a`, [{ op: "copy", from: "/none/none", path: "/data/x" }], 422, rejected],
  [`JSON ${pods}/p`, [{ op: "remove", path: "/spec/containers/7" }], 422, rejected],
  [`JSON ${pods}/p`, [{ op: "add", path: "/spec/containers/x", value: {} }], 422, rejected],
  // Without field validation upstream reads the valid members, and fails later.
  [`JSON ${maps}/a?fieldValidation=Ignore`, [{ op: 1 }], 422, rejected],
  [`JSON ${maps}/a?fieldValidation=Ignore`, [{ op: "add", path: 1, value: "x" }], 422, rejected],
  [`JSON ${maps}/a?fieldValidation=Ignore`, [{ op: "move", path: "/data/k", from: {} }], 422, rejected],
  [
    `JSON ${maps}/a`,
    '[{"op":{},"op":"test","path":"/data/k","value":"v"}]',
    400,
    "error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.op of type string",
  ],
  [
    `JSON ${maps}/a`,
    '{"a":1e999}',
    400,
    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  ],
  [
    `JSON ${maps}/a`,
    `${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`,
    400,
    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  ],
  [
    `JSON ${leases}/none`,
    [{ op: "add", path: "/none/x", value: "x" }],
    404,
    'leases.coordination.k8s.io "none" not found',
  ],
  [`MERGE ${leases}/none`, "x", 404, 'leases.coordination.k8s.io "none" not found'],
  [`STRATEGIC ${leases}/none`, {}, 404, 'leases.coordination.k8s.io "none" not found'],
  [`MERGE ${maps}/a`, "", 400, "error decoding patch: unexpected end of JSON input"],
  [`MERGE ${maps}/a?fieldValidation=Ignore`, "x", 400, "Invalid JSON Patch"],
  [
    `MERGE ${maps}/a`,
    '"x"',
    400,
    "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}",
  ],
  [`STRATEGIC ${maps}/a`, "[]", 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"],
  [
    `STRATEGIC ${pods}/p`,
    { spec: { containers: [{ image: "x" }] } },
    500,
    "map: map[image:x] does not contain declared merge key: name",
  ],
  [`STRATEGIC ${pods}/p`, { spec: { $retainKeys: "x" } }, 400, "invalid patch format of retainKeys"],
  [
    `STRATEGIC ${pods}/p`,
    { spec: { "$setElementOrder/containers": "x" } },
    500,
    "expected a []interface {}, but received a string",
  ],
  [`STRATEGIC ${pods}/p`, `{"spec":${'{"a":'.repeat(9999)}1${"}".repeat(10_000)}`, 400, "exceeded max depth"],
  [
    `JSON ${pods}/p`,
    `[{"op":"add","path":"/spec/x","value":${"[".repeat(9000)}${"]".repeat(9000)}}]`,
    400,
    "error decoding patch: exceeded max depth",
  ],
];

test("rejects malformed patches, which change nothing", () =>
  withRegistry(async (registry) => {
    const revision = async (): Promise<string> => (await send(registry, `GET ${maps}`)).body.metadata.resourceVersion;
    const before = await revision();
    for (const [request, body, status, message] of misshapen) {
      const answer = await send(registry, request, body);
      assert.deepEqual(
        [answer.status, answer.body.message],
        [status, message],
        `${request} ${JSON.stringify(body).slice(0, 100)}`,
      );
    }
    assert.equal(await revision(), before);
  }));

const undeterminable = "the name of the object (a based on URL) was undeterminable: name must be provided";
const typeError = "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field";

/** Patches that change what the object is: the end of what they are reported, and warnings. */
const otherTypes: readonly (readonly [
  request: string,
  body: unknown,
  status: number,
  message: string,
  warnings?: readonly string[],
])[] = [
  [`MERGE ${maps}/a`, { kind: null }, 200, ""],
  [`MERGE ${maps}/a`, { kind: "" }, 200, ""],
  [`MERGE ${maps}/a`, { Kind: "x" }, 200, "", ["Kind"]], // The last one counts, and they are sorted.
  [`MERGE ${maps}/a`, { Kind: 5 }, 422, `: ${typeError} .kind of type string`],
  [
    `MERGE ${maps}/a?fieldValidation=Ignore`,
    [{ b: 1, a: null }],
    422,
    String.raw`json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
  ],
  [`STRATEGIC ${maps}/a`, { kind: null, apiVersion: null }, 200, ""],
  [`MERGE ${maps}/a`, { kind: 5 }, 422, `: ${typeError} .kind of type string`],
  [`MERGE ${maps}/a`, { apiVersion: 5 }, 422, `: ${typeError} .apiVersion of type string`],
  [`MERGE ${maps}/a`, { kind: "List" }, 422, ": converting (v1.List) to (core.ConfigMap): unknown conversion"],
  // Without a version upstream reads a type that has no such fields.
  [`MERGE ${maps}/a`, { apiVersion: null }, 400, undeterminable, ["data", "metadata"]],
  [`MERGE ${maps}/a?fieldValidation=Ignore`, { apiVersion: "" }, 400, undeterminable],
  [
    `MERGE ${maps}/a?fieldValidation=Strict`,
    { apiVersion: "" },
    422,
    ': strict decoding error: unknown field "data", unknown field "metadata"',
  ],
  [
    `MERGE ${maps}/a`,
    { apiVersion: null, kind: "Secret" },
    422,
    ": converting (core.Secret) to (core.ConfigMap): unknown conversion",
  ],
  [
    `MERGE ${maps}/a`,
    { apiVersion: null, kind: "Odd" },
    422,
    ': no kind "Odd" is registered for the internal version of group "" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [`JSON ${maps}/a`, [{ op: "replace", path: "", value: {} }], 400, undeterminable],
  [
    `MERGE ${deployments}/d/scale`,
    { apiVersion: "" },
    400,
    undeterminable.replace("(a ", "(d "),
    ["metadata", "spec", "status"],
  ],
];

test("a patch cannot change kind and apiVersion", () =>
  withRegistry(async (registry) => {
    for (const [request, body, status, message, unknown = []] of otherTypes) {
      const answer = await send(registry, request, body);
      const where = `${request} ${JSON.stringify(body)}: ${answer.body.message}`;
      assert.equal(answer.status, status, where);
      if (status !== 200) assert.ok(answer.body.message.endsWith(message), where);
      assert.equal(answer.warnings, unknown.map((name) => `299 - "unknown field \\"${name}\\""`).join(", "), where);
    }
  }));

test("JSON patches see fields that are always written", () =>
  withRegistry(async (registry) => {
    const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles";
    await send(registry, `POST ${roles}`, { metadata: { name: "r" } });
    assert.equal((await send(registry, `JSON ${roles}/r`, [{ op: "remove", path: "/rules" }])).status, 200);
    assert.equal(
      (await send(registry, `JSON ${roles}/r`, [{ op: "remove", path: "/metadata/finalizers" }])).status,
      422,
    );
    const { message } = (await send(registry, `MERGE ${roles}/r`, { kind: 5 })).body;
    assert.match(message, /\\"rules\\":null\}": couldn't get version/);
  }));

test("an error shows the patched document in upstream's order of members", () =>
  withRegistry(async (registry) => {
    const { message } = (await send(registry, `MERGE ${deployments}/d`, { spec: { replicas: "x" } })).body;
    const start =
      /"\{\\"apiVersion\\":\\"apps\/v1\\",\\"kind\\":\\"Deployment\\",\\"metadata\\":\{\\"name\\":\\"d\\",\\"namespace\\"/;
    assert.match(message, start);
    assert.match(
      message,
      /\\"spec\\":\{\\"progressDeadlineSeconds\\":600,\\"replicas\\":\\"x\\",.*\\"template\\":\{\\"metadata\\":\{\\"labels\\"/,
    );
  }));

/** Why a merged tree is none of its kind, and how the patch is shown: as far as it was obeyed. */
const unfit: readonly (readonly [request: string, patch: object, shown: string, why: string])[] = [
  [`${maps}/a`, { data: { k: 1.5 } }, "map[data:map[k:1.5]]", "unrecognized type: string"],
  [`${maps}/a`, { data: [] }, "map[data:[]]", "cannot restore map from slice"],
  [`${maps}/a`, { kind: 5, $retainKeys: ["kind"] }, "map[kind:5]", "cannot convert int64 to string"],
  [
    `${maps}/a`,
    { binaryData: { k: "y" } },
    "map[binaryData:map[k:y]]",
    "error decoding from json: illegal base64 data at input byte 0",
  ],
  [
    `${maps}/a`,
    { metadata: { deletionTimestamp: {} }, data: { $patch: "replace", k: [{ n: null }] } },
    "map[data:map[k:[map[n:<nil>]]] metadata:map[deletionTimestamp:map[]]]",
    "json: cannot unmarshal object into Go value of type string",
  ],
  [`${maps}/a`, { metadata: 1, $patch: "replace" }, "map[metadata:1]", "cannot restore struct from: int64"],
  [`${pods}/p`, { status: { phase: { a: null } } }, "map[status:map[phase:map[]]]", "unrecognized type: string"],
  [
    `${pods}/p`,
    { spec: { restartPolicy: 1 } },
    "map[spec:map[restartPolicy:1]]",
    "cannot convert int64 to v1.RestartPolicy",
  ],
  [`${deployments}/d`, { spec: { replicas: 1.5 } }, "map[spec:map[replicas:1.5]]", "cannot convert float64 to int32"],
  [`${deployments}/d`, { spec: { paused: "x" } }, "map[spec:map[paused:x]]", "unrecognized type: bool"],
  [`${deployments}/d`, { spec: { template: "x" } }, "map[spec:map[template:x]]", "cannot restore struct from: string"],
  [
    `${deployments}/d`,
    { spec: { strategy: { rollingUpdate: { maxSurge: [] } } } },
    "map[spec:map[strategy:map[rollingUpdate:map[maxSurge:[]]]]]",
    "json: cannot unmarshal array into Go value of type int32",
  ],
];

for (const [path, patch, shown, why] of unfit) {
  test(`a strategic merge patch that makes nothing of the kind: ${JSON.stringify(patch)}`, () =>
    withRegistry(async (registry) => {
      const answer = await send(registry, `STRATEGIC ${path}`, patch);
      assert.deepEqual(
        [answer.status, answer.body.message],
        [422, ` "" is invalid: patch: Invalid value: "${shown}": ${why}`],
      );
    }));
}

/** What kube-apiserver on amd64 stores. */
const converted: readonly (readonly [written: string, stored: number])[] = [
  ["599", 599],
  ["4294967297", 1],
  ["-4294967295", 1],
  ["4294967298.0", 2],
  ["3e0", 3],
  ["9223372036854775807", -1],
  ["9223372036854775808", 0],
  ["12345678901234567890.0", 0],
];

for (const [written, stored] of converted)
  test(`a strategic merge patch and an apply convert ${written} to a 32-bit integer`, () =>
    withRegistry(async (registry) => {
      const path = `${deployments}/d`;
      const type = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } };
      const patch = JSON.stringify({ ...type, spec: { minReadySeconds: "N" } }).replace('"N"', written);
      for (const line of [`STRATEGIC ${path}`, `APPLY ${path}?fieldManager=m&force=true`]) {
        await send(registry, `STRATEGIC ${path}`, { spec: { minReadySeconds: 7 } });
        const { status, body } = await send(registry, line, patch);
        assert.deepEqual([line, status, body.spec?.minReadySeconds ?? body.message], [line, ...shown(stored)]);
      }
    }));

/** A negative number is converted, and then rejected; zero is omitted. */
function shown(stored: number): unknown[] {
  if (stored === 0) return [200, undefined];
  if (stored > 0) return [200, stored];
  const why = "must be greater than or equal to 0";
  return [422, `Deployment.apps "d" is invalid: spec.minReadySeconds: Invalid value: ${stored}: ${why}`];
}

test("a JSON patch adds the members of an object that occurs repeatedly", () =>
  withRegistry(async (registry) => {
    const value = '{"name":"a","labels":{"x":"1","x":"2"},"labels":{"z":"1"}}';
    const { body } = await send(registry, `JSON ${maps}/a`, `[{"op":"add","path":"/metadata","value":${value}}]`);
    assert.deepEqual(body.metadata.labels, { x: "2", z: "1" });
  }));

test("a strategic merge patch of a schema within a definition", () =>
  withRegistry(async (registry) => {
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const openAPIV3Schema = {
      type: "object",
      properties: { l: { type: "array", items: { type: "object", required: ["a"] } } },
    };
    const names = { plural: "things", kind: "Thing", singular: "thing", listKind: "ThingList" };
    const spec = {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    };
    assert.equal(
      (await send(registry, `POST ${definitions}`, { metadata: { name: "things.example.com" }, spec })).status,
      201,
    );
    const items = { required: [[null]] };
    const patch = { spec: { versions: [{ schema: { openAPIV3Schema: { properties: { l: { items } } } } }] } };
    const { message } = (await send(registry, `STRATEGIC ${definitions}/things.example.com`, patch)).body;
    assert.match(
      message,
      /: json: cannot unmarshal array into Go struct field JSONSchemaProps\.required of type string$/,
    );
  }));

const served =
  "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const unknownBody = `the body of the request was in an unknown format - accepted media types include: ${served}`;

/** Content types to the letter, and what a patch of `{}` in them is answered. */
const contentTypes: readonly (readonly [type: string, status: number, message?: string])[] = [
  ["application/merge-patch+json; charset=utf-8", 200],
  ["application/json-patch+json;x", 400],
  ["application/merge-patch+JSON", 415, "415: Unsupported Media Type"],
  ["application/merge-patch+json ; a=b", 415, unknownBody],
  ["application/merge-patch+json, application/json", 415, unknownBody],
  ["application/json", 415, "415: Unsupported Media Type"],
  ["application/apply-patch+cbor", 415, "415: Unsupported Media Type"],
  ["*/*", 415, "415: Unsupported Media Type"],
  [";", 415, "415: Unsupported Media Type"],
  ["", 415, "415: Unsupported Media Type"],
];

test("the content type selects the patch type", () =>
  withRegistry(async (registry) => {
    for (const [type, status, message] of contentTypes) {
      const answer = await send(registry, `PATCH ${maps}/a`, {}, { "content-type": type });
      assert.equal(answer.status, status, type);
      if (message !== undefined) assert.equal(answer.body.message, message, type);
    }
  }));

test("custom resources do not accept strategic merge patches", () =>
  withRegistry(async (registry) => {
    const catalog = registry.catalog as MutableCatalog;
    const model = catalog
      .definitions()
      .find(({ group, resource }) => group === "" && resource === "configmaps") as ResourceDefinition;
    const names = { group: "example.com", resource: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
    const storage = {
      ...(model.storage as StorageForm),
      group: "example.com",
      kind: "Thing",
      prefix: "/registry/example.com/things/",
    };
    catalog.add({ ...model, ...names, storage, custom: true });
    const things = "/apis/example.com/v1/namespaces/n/things";
    assert.equal((await send(registry, `POST ${things}`, { metadata: { name: "t" } })).status, 201);
    assert.equal((await send(registry, `MERGE ${things}/t`, { data: { a: "b" } })).status, 200);
    assert.equal((await send(registry, `JSON ${things}/t`, [{ op: "add", path: "/data/c", value: "d" }])).status, 200);
    const answer = await send(registry, `STRATEGIC ${things}/t`, { data: {} });
    const accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    assert.deepEqual([answer.status, answer.body.message], [415, message]);
  }));

test("a patch cannot set an invalid generateName", async () => {
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const rows: [resource: string, object: object][] = [
    ["/configmaps", {}],
    ["/secrets", {}],
    ["/serviceaccounts", {}],
    ["/endpoints", {}],
    ["/persistentvolumeclaims", { spec: claim }],
    ["/pods", { spec: template.spec }],
    ["apps/controllerrevisions", { revision: 1, data: { a: 1 } }],
  ];
  const { registry, create, close } = await openMemoryRegistry();
  await create(["/namespaces", ""], { metadata: { name: "n" } });
  for (const [resource, object] of rows) {
    await create([resource, "n"], { metadata: { name: "a" }, ...object });
    const [group, plural] = resource.split("/") as [string, string];
    const path = `${group === "" ? "/api/v1" : `/apis/${group}/v1`}/namespaces/n/${plural}/a`;
    const { status, body } = await send(registry, `MERGE ${path}`, { metadata: { generateName: "G_" } });
    const [cause, ...more] = body.details?.causes ?? [];
    assert.deepEqual([status, cause?.field, more], [422, "metadata.generateName", []], resource);
  }
  // Upstream checks the generated names of these kinds, not the prefix.
  const path = "/apis/resource.k8s.io/v1/deviceclasses/a";
  await create(["resource.k8s.io/deviceclasses", ""], { metadata: { name: "a" }, spec: {} });
  assert.equal((await send(registry, `MERGE ${path}`, { metadata: { generateName: "G_" } })).status, 200);
  await close();
});

test("a write of a status that omits the labels leaves those of the template", async () => {
  const { registry, create, close } = await openMemoryRegistry();
  await create(["/namespaces", ""], { metadata: { name: "n" } });
  const job = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } } };
  const rows: [resource: string, path: string, kind: object, object: object][] = [
    ["batch/jobs", "/apis/batch/v1/namespaces/n/jobs/a", { apiVersion: "batch/v1", kind: "Job" }, job],
    [
      "/replicationcontrollers",
      "/api/v1/namespaces/n/replicationcontrollers/a",
      { apiVersion: "v1", kind: "ReplicationController" },
      { spec: { template } },
    ],
  ];
  for (const [resource, path, kind, object] of rows) {
    const created = await create([resource, "n"], { metadata: { name: "a" }, ...object });
    const { body } = await send(registry, `PUT ${path}/status`, { ...kind, metadata: { name: "a" } });
    assert.deepEqual(body.metadata?.labels, created.metadata.labels, resource);
  }
  await close();
});
