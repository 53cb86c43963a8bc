/** What writes answer, request after request. The texts are upstream's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { certificateRequest } from "../../../test/support/certificate-request.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";

/** A request, and of its answer the status with either a Status's message or a part of the body. */
type Row = readonly [
  request: string,
  body: unknown,
  status: number,
  want?: string | object,
  headers?: Readonly<Record<string, string>>,
];

/** Runs the rows in order on a server of their own that has namespace `n`. */
function conversation(what: string, rows: readonly Row[]): void {
  test(what, async () => {
    const { registry, close } = await openMemoryRegistry();
    assert.equal((await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } })).status, 201);
    for (const [request, body, status, want, headers] of rows) {
      const answer = await send(registry, request, body, headers);
      const where = `${request}: ${JSON.stringify(answer.body)}`;
      assert.equal(answer.status, status, where);
      if (typeof want === "string") assert.equal(answer.body.message, want, where);
      else if (want !== undefined) assert.partialDeepStrictEqual(answer.body, want, where);
    }
    await close();
  });
}

const maps = "/api/v1/namespaces/n/configmaps";
const pods = "/api/v1/namespaces/n/pods";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const leases = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const modified = "the object has been modified; please apply your changes to the latest version and try again";
const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
const deployment = {
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};

conversation("create: what the server sets and what it does not believe", [
  [
    `POST ${maps}`,
    {
      metadata: {
        name: "a",
        uid: "mine",
        creationTimestamp: "2001-01-01T00:00:00Z",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        selfLink: "/x",
      },
    },
    201,
    { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", namespace: "n" } },
  ],
  [`POST ${maps}`, { metadata: { name: "a" } }, 409, 'configmaps "a" already exists'],
  [`POST ${maps}?dryRun=All`, { metadata: { name: "a" } }, 409, 'configmaps "a" already exists'],
  [
    `POST ${maps}`,
    { metadata: { name: "b", resourceVersion: "5" } },
    500,
    "resourceVersion should not be set on objects to be created",
  ],
  [`POST ${maps}`, { metadata: { name: "b", resourceVersion: "x" } }, 201],
  [`POST ${maps}`, { metadata: { name: "b2", resourceVersion: "18446744073709551616" } }, 201],
  // A dry run stores nothing, so the store does not check it.
  [
    `POST ${maps}?dryRun=All`,
    { metadata: { name: "c", resourceVersion: "5" } },
    201,
    { metadata: { name: "c", resourceVersion: "5" } },
  ],
  [
    `PUT ${leases}/c?dryRun=All`,
    { metadata: { name: "c", resourceVersion: "5" } },
    201,
    { metadata: { name: "c", resourceVersion: "5" } },
  ],
  [`POST ${maps}`, { metadata: { name: "c", managedFields: [{ manager: "me" }] } }, 201],
  [
    `POST ${maps}`,
    { metadata: { name: "x", namespace: "m" } },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    `POST ${maps}`,
    "null",
    422,
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  ],
  [`POST ${maps}`, '{"metadata":{"name":"q"},"data":{"__proto__":"x","constructor":"y"}}', 201],
  ["POST /api/v1/namespaces/none/configmaps", { metadata: { name: "a" } }, 404, 'namespaces "none" not found'],
  [`POST ${deployments}`, { ...deployment, status: { replicas: 7 } }, 201, { metadata: { generation: 1 }, status: {} }],
]);

conversation("bodies that are of another kind, or nothing at all", [
  [
    `POST ${maps}`,
    "{",
    400,
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
  ],
  [
    `POST ${maps}`,
    '{"kind":{},"kind":"Event","apiVersion":"a/b/c"}',
    400,
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct field .kind of type string ({"kind":{},"kind":"Event","api ...)`,
  ],
  [
    `POST ${maps}`,
    '{"kind":"Event","kind":"Event","apiVersion":"a/b/c"}',
    400,
    'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"kind":"Event","kind":"Event" ...)',
  ],
  [
    `POST ${maps}`,
    { kind: "Secret", apiVersion: "v1", metadata: { name: "d" } },
    400,
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    `POST ${maps}`,
    { kind: "Secret", apiVersion: "v1", metadata: { name: "d" }, data: { a: "!" } },
    400,
    'Secret in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
  ],
  [
    `POST ${maps}`,
    { kind: "ConfigMap", apiVersion: "apps/v1", metadata: { name: "d" } },
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    "POST /apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers",
    { kind: "HorizontalPodAutoscaler", apiVersion: "autoscaling/v1", metadata: { name: "h" } },
    400,
    "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)",
  ],
  [
    `POST ${maps}`,
    '{"kind":[],"kind":"ConfigMap","metadata":{"name":"d"}}',
    400,
    'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go struct field .kind of type string ({"kind":[],"kind":"ConfigMap", ...)',
  ],
  [
    `POST ${maps}`,
    { kind: "List", apiVersion: "v1" },
    400,
    'List in version "v1" cannot be handled as a ConfigMap: converting (v1.List) to (core.ConfigMap): unknown conversion',
  ],
  // Definitions and registrations of groups have schemes of their own, where upstream still knows
  // their first version.
  [
    `POST ${definitions}`,
    { kind: "Secret", apiVersion: "v1" },
    400,
    'Secret in version "v1" cannot be handled as a CustomResourceDefinition: no kind "Secret" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    `POST ${definitions}`,
    { kind: "Status", apiVersion: "v1" },
    400,
    'Status in version "v1" cannot be handled as a CustomResourceDefinition: converting (v1.Status) to (apiextensions.CustomResourceDefinition): unknown conversion',
  ],
  [
    `POST ${definitions}`,
    { kind: "CustomResourceDefinition", apiVersion: "apiextensions.k8s.io/v1beta1" },
    400,
    "the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)",
  ],
  [
    `POST ${maps}`,
    { kind: "APIService", apiVersion: "apiregistration.k8s.io/v1" },
    400,
    'APIService in version "v1" cannot be handled as a ConfigMap: no kind "APIService" is registered for version "apiregistration.k8s.io/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    `POST ${maps}`,
    "a: b",
    415,
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    { "content-type": "text/plain" },
  ],
  [
    `POST ${maps}?fieldValidation=Strict`,
    '{"metadata":{"name":"s"},"nope":1}',
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nope"',
  ],
  [
    `POST ${maps}?fieldValidation=Odd`,
    {},
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Odd": supported values: "", "Ignore", "Strict", "Warn"',
  ],
  // Of an update the options come first, of a creation the content type.
  [
    `PUT ${maps}/d?fieldManager=${"m".repeat(129)}`,
    {},
    422,
    'UpdateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    { "content-type": "text/plain" },
  ],
  [
    `POST ${maps}?fieldManager=${"m".repeat(129)}`,
    {},
    415,
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    { "content-type": "text/plain" },
  ],
  [
    `POST ${maps}?dryRun=Some`,
    {},
    422,
    'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  ],
  [
    `POST ${maps}?fieldManager=${"m".repeat(129)}`,
    {},
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
  ],
]);

conversation("the names of kind and version, in any case", [
  [`POST ${maps}?dryRun=All`, { KIND: "ConfigMap", metadata: { name: "a" } }, 201],
  [
    `POST ${maps}?dryRun=All`,
    '{"kind":"ConfigMap","KIND":"Secret","apiVersion":"v1","metadata":{"name":"a"}}',
    400,
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  // Of YAML upstream makes JSON with sorted keys, whose last one counts.
  [
    `POST ${maps}?dryRun=All`,
    "kind: ConfigMap\nKIND: Secret\napiVersion: v1\nmetadata: {name: a}\n",
    201,
    undefined,
    { "content-type": "application/yaml" },
  ],
]);

conversation("update: names, versions, uids", [
  [`POST ${maps}`, { metadata: { name: "a" }, data: { k: "v" } }, 201],
  [
    `PUT ${maps}/a`,
    { metadata: { name: "b" } },
    400,
    "the name of the object (b) does not match the name on the URL (a)",
  ],
  [
    `PUT ${maps}/a`,
    { metadata: {} },
    400,
    "the name of the object (a based on URL) was undeterminable: name must be provided",
  ],
  [
    `PUT ${maps}/a`,
    { metadata: { name: "a", resourceVersion: "1" } },
    409,
    `Operation cannot be fulfilled on configmaps "a": ${modified}`,
  ],
  [
    `PUT ${maps}/a`,
    { metadata: { name: "a", resourceVersion: "abc" } },
    500,
    'strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [`PUT ${maps}/none`, { metadata: { name: "none", uid: "u" } }, 404, 'configmaps "none" not found'],
  [`PUT ${maps}/a`, { metadata: { name: "a", generateName: "g-" }, data: { k: "w" } }, 200, { data: { k: "w" } }],
  [`PUT ${leases}/l`, { metadata: { name: "l" } }, 201, { metadata: { name: "l" } }],
  [
    `PUT ${leases}/l`,
    { metadata: { name: "l" } },
    422,
    'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  ],
  [`PUT ${leases}/v`, { metadata: { name: "v", resourceVersion: "5" } }, 201, { metadata: { name: "v" } }],
  [
    `PUT ${leases}/w`,
    { metadata: { name: "w", resourceVersion: "abc" } },
    500,
    'strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [`PUT ${leases}/m?dryRun=All`, { metadata: { name: "m" } }, 201],
  [`GET ${leases}/m`, undefined, 404],
]);

conversation("subresources that change their part of an object alone", [
  [
    `POST ${pods}`,
    { ...pod, spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "2" } } }] } },
    201,
  ],
  [
    `MERGE ${pods}/p/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: "e", image: "i" }], nodeName: "n" } },
    200,
    {
      metadata: { generation: 2 },
      spec: { ephemeralContainers: [{ name: "e", image: "i" }], containers: [{ name: "c", image: "i" }] },
    },
  ],
  [
    `STRATEGIC ${pods}/p/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: "e", image: "j" }] } },
    422,
    [
      'Pod "p" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed',
      ...[
        "@@ -1,6 +1,6 @@",
        " {",
        '  "Name": "e",',
        '- "Image": "i",',
        '+ "Image": "j",',
        '  "Command": null,',
        '  "Args": null,',
      ],
      '  "WorkingDir": "",\n',
    ].join("\n"),
  ],
  [
    `STRATEGIC ${pods}/p/resize`,
    { spec: { containers: [{ name: "c", image: "j", resources: { requests: { cpu: "1" } } }] } },
    200,
    {
      metadata: { generation: 3 },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] },
    },
  ],
  [
    `POST ${requests}`,
    {
      metadata: { name: "r" },
      spec: { signerName: "example.com/s", request: certificateRequest, usages: ["any"], username: "forged" },
    },
    201,
    { spec: { username: "tester" } },
  ],
  [
    `MERGE ${requests}/r/approval`,
    {
      spec: { signerName: "example.com/t" },
      status: { certificate: "eA==", conditions: [{ type: "Approved", status: "True", reason: "r" }] },
    },
    200,
    {
      spec: { signerName: "example.com/s" },
      status: { conditions: [{ type: "Approved", status: "True", reason: "r" }] },
    },
  ],
  [
    `JSON ${requests}/r/approval`,
    [{ op: "add", path: "/status/conditions/-", value: { type: "Denied", status: "True" } }],
    422,
    'CertificateSigningRequest.certificates.k8s.io "r" is invalid: status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ],
]);

test("managers do not own fields of a CertificateSigningRequest that their writes cannot change", async () => {
  const { registry, close } = await openMemoryRegistry();
  const decision = { type: "Approved", status: "True", reason: "r" };
  const rows: Row[] = [
    [
      `POST ${requests}?fieldManager=a`,
      {
        metadata: { name: "r", labels: { c: "d" } },
        spec: { signerName: "x.io/s", request: certificateRequest, usages: ["any"] },
      },
      201,
    ],
    [`MERGE ${requests}/r?fieldManager=b`, { metadata: { labels: { a: "b" } }, spec: { groups: ["g"] } }, 200],
    [`MERGE ${requests}/r/approval?fieldManager=c`, { status: { conditions: [decision] } }, 200],
    [
      `MERGE ${requests}/r/status?fieldManager=d`,
      { status: { conditions: [decision, { ...decision, type: "Failed" }] } },
      200,
    ],
  ];
  let entries: { manager: string; fieldsV1: object }[] = [];
  for (const [request, body, status] of rows) {
    const answer = await send(registry, request, body);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    entries = answer.body.metadata.managedFields;
  }
  const owners = entries.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1)]);
  assert.deepEqual(owners, [
    ["a", ["f:metadata"]],
    ["b", ["f:metadata"]],
    ["c", ["f:status"]],
  ]);
  await close();
});

const claims = "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims";
const claimed = (exactly: object): object => ({
  devices: { requests: [{ name: "a", exactly: { deviceClassName: "c", ...exactly } }] },
});
const needsLabel =
  "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
conversation("claims: access to devices that others use", [
  [
    `POST ${claims}`,
    { metadata: { name: "a" }, spec: claimed({ adminAccess: true }) },
    422,
    `ResourceClaim.resource.k8s.io "a" is invalid: ${needsLabel}`,
  ],
  [
    `POST ${claims.replace(/s$/, "templates")}`,
    { metadata: { name: "t" }, spec: { spec: claimed({ adminAccess: true }) } },
    422,
    `ResourceClaimTemplate.resource.k8s.io "t" is invalid: ${needsLabel}`,
  ],
  [`POST ${claims}`, { metadata: { name: "b" }, spec: claimed({}) }, 201],
  [`JSON ${claims}/b`, [{ op: "add", path: "/spec/devices/requests/0/exactly/adminAccess", value: true }], 422],
  [
    `MERGE ${claims}/b/status`,
    {
      status: {
        allocation: {
          devices: { results: [{ request: "a", driver: "d", pool: "p", device: "e", adminAccess: true }] },
        },
      },
    },
    422,
    `ResourceClaim.resource.k8s.io "b" is invalid: ${needsLabel.replace("spec.devices.requests", "status.allocation.devices.results")}`,
  ],
  ["MERGE /api/v1/namespaces/n", { metadata: { labels: { "resource.kubernetes.io/admin-access": "true" } } }, 200],
  [`POST ${claims}`, { metadata: { name: "a" }, spec: claimed({ adminAccess: true }) }, 201],
]);

conversation("If-Match on every write of an object", [
  [`POST ${maps}`, { metadata: { name: "a" } }, 201],
  [
    `PUT ${maps}/a`,
    { metadata: { name: "a" } },
    409,
    `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    { "if-match": '"1"' },
  ],
  [
    `MERGE ${maps}/a`,
    { data: { k: "v" } },
    409,
    `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    { "if-match": "1" },
  ],
  [
    `DELETE ${maps}/a`,
    undefined,
    409,
    `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    { "if-match": "1" },
  ],
  [`MERGE ${maps}/a`, { data: { k: "v" } }, 200, { data: { k: "v" } }, { "if-match": "*" }],
]);

conversation("status and the rest do not mix; generation counts what is wanted", [
  [`POST ${deployments}`, deployment, 201, { metadata: { generation: 1 } }],
  [`MERGE ${deployments}/d`, { status: { replicas: 3 } }, 200, { metadata: { generation: 1 }, status: {} }],
  [
    `MERGE ${deployments}/d/status`,
    { status: { replicas: 3 }, spec: { replicas: 9 } },
    200,
    { metadata: { generation: 1 }, spec: { replicas: 1 }, status: { replicas: 3 } },
  ],
  [
    `MERGE ${deployments}/d`,
    { spec: { replicas: 2 }, metadata: { generation: 99 } },
    200,
    { metadata: { generation: 2 }, spec: { replicas: 2 }, status: { replicas: 3 } },
  ],
  [`MERGE ${deployments}/d`, { metadata: { labels: { x: "y" } } }, 200, { metadata: { generation: 2 } }],
]);

conversation("scale", [
  [`GET ${deployments}/d/scale`, undefined, 404],
  [`POST ${deployments}`, deployment, 201],
  [
    `PUT ${deployments}/d/scale`,
    { metadata: { name: "d" }, spec: { replicas: 4 } },
    200,
    { kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 4 } },
  ],
  [`MERGE ${deployments}/d/scale`, { spec: { replicas: 5 } }, 200, { kind: "Scale", spec: { replicas: 5 } }],
  [
    `GET ${deployments}/d/scale`,
    undefined,
    200,
    { kind: "Scale", metadata: { name: "d" }, spec: { replicas: 5 }, status: { selector: "a=b" } },
  ],
  [`GET ${deployments}/d`, undefined, 200, { spec: { replicas: 5 }, metadata: { generation: 3 } }],
  [
    `MERGE ${deployments}/d/scale`,
    { spec: { replicas: -1 } },
    422,
    'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    `MERGE ${deployments}/d/scale`,
    { metadata: { resourceVersion: "1" } },
    409,
    `Operation cannot be fulfilled on deployments.apps "d": ${modified}`,
  ],
  [`PUT ${deployments}/none/scale`, { metadata: { name: "none" } }, 404, 'deployments.apps "none" not found'],
]);

conversation("patches", [
  [`POST ${maps}`, { metadata: { name: "a" }, data: { k: "v" } }, 201],
  [`JSON ${maps}/a`, [{ op: "replace", path: "/data/k", value: "w" }], 200, { data: { k: "w" } }],
  [
    `JSON ${maps}/a`,
    [{ op: "remove", path: "/data/none" }],
    422,
    "the server rejected our request due to an error in our request",
  ],
  [
    `JSON ${maps}/a`,
    {},
    400,
    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  ],
  [`JSON ${maps}/a`, "[", 400, "error decoding patch: unexpected end of JSON input"],
  [
    `JSON ${maps}/a`,
    Array.from({ length: 10_001 }, () => ({})),
    413,
    "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  ],
  [`MERGE ${maps}/a`, { data: { k: null, z: "1" } }, 200, { data: { z: "1" } }],
  [`MERGE ${maps}/a`, "null", 400, "Invalid JSON Patch"],
  [
    `MERGE ${maps}/a`,
    [],
    400,
    "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  ],
  [`MERGE ${maps}/a`, { data: { k: 1 } }, 422],
  [`MERGE ${maps}/a`, { kind: "Secret" }, 422],
  [
    `MERGE ${maps}/a`,
    { metadata: { name: "b" } },
    400,
    "the name of the object (b) does not match the name on the URL (a)",
  ],
  [
    `MERGE ${maps}/a`,
    { metadata: { resourceVersion: "1" } },
    409,
    `Operation cannot be fulfilled on configmaps "a": ${modified}`,
  ],
  [`MERGE ${maps}/none`, "{", 404, 'configmaps "none" not found'],
  [
    `MERGE ${maps}/a?force=true`,
    {},
    422,
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  ],
  [`PATCH ${maps}/a`, {}, 415, "415: Unsupported Media Type"],
  [
    `STRATEGIC ${maps}/a?fieldValidation=Strict`,
    '{"data":{"s":"1","s":"2"},"extra":{"a":1}}',
    422,
    ' "" is invalid: patch: Invalid value: "map[data:map[s:2] extra:map[a:1]]": strict decoding error: duplicate field "data.s", unknown field "extra"',
  ],
  [`STRATEGIC ${maps}/a`, "{", 400, "unexpected end of JSON input"],
  [`STRATEGIC ${maps}/a`, { metadata: { finalizers: "x" } }, 422],
  [
    `STRATEGIC ${maps}/a`,
    { data: "x" },
    422,
    ' "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
  ],
  [
    `MERGE ${maps}/a`,
    `{"data":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
    400,
    "error decoding patch: exceeded max depth",
  ],
]);

conversation("deletion: options and preconditions", [
  [`POST ${maps}`, { metadata: { name: "a" } }, 201],
  [`DELETE ${maps}/a`, { preconditions: { resourceVersion: "1" } }, 409],
  [`DELETE ${maps}/a?gracePeriodSeconds=x`, undefined, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  [`DELETE ${maps}/a`, "{", 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  [
    `DELETE ${maps}/a`,
    { orphanDependents: true, propagationPolicy: "Background" },
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
  ],
  [`DELETE ${maps}/a?dryRun=All`, undefined, 200, { status: "Success", details: { name: "a", kind: "configmaps" } }],
  [`DELETE ${maps}/a`, undefined, 200, { status: "Success", details: { name: "a", kind: "configmaps" } }],
  [`DELETE ${maps}/a`, undefined, 404, 'configmaps "a" not found'],
  [`POST ${deployments}`, deployment, 201],
  [`DELETE ${deployments}/d`, undefined, 200, { details: { name: "d", group: "apps", kind: "deployments" } }],
]);

conversation("finalizers hold an object until the last one goes", [
  [`POST ${maps}`, { metadata: { name: "a", finalizers: ["example.com/x"] } }, 201],
  [`DELETE ${maps}/a?dryRun=All`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 0 } }],
  [
    `DELETE ${maps}/a`,
    { propagationPolicy: "Foreground" },
    200,
    { metadata: { deletionGracePeriodSeconds: 0, finalizers: ["example.com/x", "foregroundDeletion"] } },
  ],
  [`POST ${maps}`, { metadata: { name: "a" } }, 409, 'object is being deleted: configmaps "a" already exists'],
  [
    `MERGE ${maps}/a`,
    { metadata: { finalizers: ["example.com/x", "example.com/z"] } },
    422,
    'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/z"}',
  ],
  [
    `MERGE ${maps}/a`,
    { metadata: { finalizers: ["example.com/x"] } },
    200,
    { metadata: { finalizers: ["example.com/x"] } },
  ],
  [`MERGE ${maps}/a?dryRun=All`, { metadata: { finalizers: null } }, 200],
  [`GET ${maps}/a`, undefined, 200],
  [`MERGE ${maps}/a`, { metadata: { finalizers: null }, data: { last: "word" } }, 200, { data: { last: "word" } }],
  [`GET ${maps}/a`, undefined, 404],
]);

conversation("pods stay for their grace period once they run somewhere", [
  [`POST ${pods}`, pod, 201, { status: { phase: "Pending" } }],
  [`DELETE ${pods}/p`, undefined, 200, { kind: "Pod", metadata: { deletionGracePeriodSeconds: 0, generation: 2 } }],
  [`GET ${pods}/p`, undefined, 404],
  [`POST ${pods}`, { ...pod, spec: { ...pod.spec, nodeName: "node" } }, 201],
  [`DELETE ${pods}/p`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 30 } }],
  [`DELETE ${pods}/p?gracePeriodSeconds=60`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 30 } }],
  [`DELETE ${pods}/p?gracePeriodSeconds=5`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 5 } }],
  [`DELETE ${pods}/p?gracePeriodSeconds=0`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 0 } }],
  [`GET ${pods}/p`, undefined, 404],
]);

conversation("namespaces", [
  ["POST /api/v1/namespaces", { metadata: { name: "default" } }, 201],
  [
    "DELETE /api/v1/namespaces/default",
    undefined,
    403,
    'namespaces "default" is forbidden: this namespace may not be deleted',
  ],
  [
    "DELETE /api/v1/namespaces/n",
    undefined,
    200,
    { spec: { finalizers: ["kubernetes"] }, status: { phase: "Terminating" } },
  ],
  ["DELETE /api/v1/namespaces/n", undefined, 200, { status: { phase: "Terminating" } }],
  [
    `POST ${maps}`,
    { metadata: { generateName: "late-" } },
    403,
    'configmaps "late-" is forbidden: unable to create new content in namespace n because it is being terminated',
  ],
  ["PUT /api/v1/namespaces/n/finalize", { metadata: { name: "n" }, spec: {} }, 200],
  ["GET /api/v1/namespaces/n", undefined, 404],
]);

conversation("deletecollection", [
  [`POST ${maps}`, { metadata: { name: "a", labels: { x: "1" } } }, 201],
  [`POST ${maps}`, { metadata: { name: "b", labels: { x: "2" } } }, 201],
  [`POST ${maps}`, { metadata: { name: "c", labels: { x: "1" }, finalizers: ["example.com/f"] } }, 201],
  [
    `DELETE ${maps}?labelSelector=x=1&dryRun=All`,
    undefined,
    200,
    { kind: "ConfigMapList", items: [{ metadata: { name: "a" } }, { metadata: { name: "c" } }] },
  ],
  [
    `DELETE ${maps}?labelSelector=x=1`,
    undefined,
    200,
    { kind: "ConfigMapList", items: [{ metadata: { name: "a" } }, { metadata: { name: "c" } }] },
  ],
  [
    `GET ${maps}`,
    undefined,
    200,
    { items: [{ metadata: { name: "b" } }, { metadata: { name: "c", deletionGracePeriodSeconds: 0 } }] },
  ],
  [`DELETE ${maps}`, { preconditions: { resourceVersion: "1" } }, 409],
  [`DELETE ${maps}?limit=1`, undefined, 200, { items: [{ metadata: { name: "b" } }] }],
  [`GET ${maps}`, undefined, 200, { items: [{ metadata: { name: "c" } }] }],
]);

const repeatedOwner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "u" };
const warningRows: [what: string, request: string, body: unknown, warnings: string][] = [
  [
    "unknown and duplicate fields",
    `POST ${maps}`,
    '{"metadata":{"name":"a"},"data":{"a":"1","a":"2"},"x":1}',
    '299 - "duplicate field \\"data.a\\"", 299 - "unknown field \\"x\\""',
  ],
  [
    "the same, ignored",
    `POST ${maps}?fieldValidation=Ignore`,
    '{"metadata":{"name":"a"},"data":{"a":"1","a":"2"},"x":1}',
    "",
  ],
  [
    "a patch that is not accurate",
    `MERGE ${maps}/there`,
    '{"data":{"m":"1","m":"2"},"metadata":{"odd":1}}',
    '299 - "duplicate field \\"data.m\\"", 299 - "unknown field \\"metadata.odd\\""',
  ],
  [
    "operations of a JSON patch",
    `JSON ${maps}/there`,
    '[{"op":"add","path":"/data/x","value":"1","value":"2","zz":1}]',
    '299 - "json patch duplicate field \\"[0].value\\"", 299 - "json patch unknown field \\"[0].zz\\""',
  ],
  [
    "an owner named twice",
    `POST ${maps}`,
    { metadata: { name: "a", ownerReferences: [repeatedOwner, repeatedOwner] } },
    '299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"',
  ],
];

for (const [what, request, body, warnings] of warningRows) {
  test(`warns of ${what}`, async () => {
    const { registry, create, close } = await openMemoryRegistry();
    await create(["/namespaces", ""], { metadata: { name: "n" } });
    await create(["/configmaps", "n"], { metadata: { name: "there" }, data: { k: "v" } });
    const answer = await send(registry, request, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    assert.equal(answer.warnings, warnings);
    await close();
  });
}

test("warns of an owner named twice where there is nothing to put", async () => {
  const { registry, create, close } = await openMemoryRegistry();
  await create(["/namespaces", ""], { metadata: { name: "n" } });
  const { status, warnings } = await send(registry, `PUT ${maps}/none`, {
    metadata: { name: "none", ownerReferences: [repeatedOwner, repeatedOwner] },
  });
  assert.equal(status, 404);
  assert.match(warnings, /contains duplicate entries; .* duplicate UID\(s\) observed: u"$/);
  await close();
});
