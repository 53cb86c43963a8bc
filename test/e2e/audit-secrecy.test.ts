/**
 * Secret contents are never recorded above the level of their rule: with a policy like the one
 * upstream recommends, for every verb and encoding, with valid and invalid bodies.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { builtinSchema } from "../../src/catalog/builtin-schemas.ts";
import { encodeAnyCbor } from "../../src/lib/cbor/encode.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-secrecy-"));
const log = join(directory, "audit.log");
const policyFile = join(directory, "policy.yaml");
writeFileSync(
  policyFile,
  `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: ["system:kube-proxy"], verbs: [watch], resources: [{group: "", resources: [endpoints, services]}]}
- level: Metadata
  resources:
  - {group: "", resources: [secrets, configmaps, serviceaccounts/token]}
  - {group: authentication.k8s.io, resources: [tokenreviews]}
- {level: Request, verbs: [get, list, watch], resources: [{group: ""}, {group: apps}]}
- {level: RequestResponse, resources: [{group: ""}, {group: apps}, {group: policy}, {group: authorization.k8s.io}]}
- {level: Metadata}
`,
);

/** Part of every secret text, in plain text or base64. */
const marker = "TopSecretMarker";
const shown = [
  marker,
  ...[0, 1, 2].map((before) =>
    Buffer.from("xx".slice(0, before) + marker)
      .toString("base64")
      .slice(4, 16),
  ),
];
const core = "/api/v1/namespaces/default";

const { client: admin } = await startServerWithClient({
  audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: log } },
  featureGates: "CBORServingAndStorage=true",
});
after(() => rmSync(directory, { recursive: true, force: true }));

let requests = 0;

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
async function recorded(request: RawRequest): Promise<{ status: number; lines: string[]; event: any }> {
  const id = `secrecy-${requests++}`;
  const { status } = await admin.send({ ...request, headers: { ...request.headers, "audit-id": id } });
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"${id}"`));
  return { status, lines, event: JSON.parse(lines.at(-1) as string) };
}

const base64 = Buffer.from(marker).toString("base64");
const secret = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: { k: base64 },
  ...more,
});
const configMap = (name: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { k: marker },
});
const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: marker } };
const typed = (type: string): Record<string, string> => ({ "content-type": type });
const reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
const schema = builtinSchema("io.k8s.api.core.v1.Secret");

const rows: [what: string, request: RawRequest, status: number | undefined][] = [
  ["create", { method: "POST", path: `${core}/secrets`, body: secret("a") }, 201],
  [
    "create, YAML",
    {
      method: "POST",
      path: `${core}/secrets`,
      headers: typed("application/yaml"),
      body: `{metadata: {name: b}, stringData: {k: ${marker}}}`,
    },
    201,
  ],
  [
    "create, protobuf",
    {
      method: "POST",
      path: `${core}/secrets`,
      headers: typed("application/vnd.kubernetes.protobuf"),
      body: wrapInEnvelope("v1", "Secret", encodeProtobuf(secret("c"), schema)),
    },
    201,
  ],
  [
    "create, CBOR",
    { method: "POST", path: `${core}/secrets`, headers: typed("application/cbor"), body: encodeAnyCbor(secret("d")) },
    201,
  ],
  ["create with truncated JSON", { method: "POST", path: `${core}/secrets`, body: `{"data":{"k":"${marker}` }, 400],
  [
    "create with data that is not base64",
    { method: "POST", path: `${core}/secrets`, body: secret("e", { data: { k: `${marker}!` } }) },
    400,
  ],
  [
    "create with data of another type",
    { method: "POST", path: `${core}/secrets`, body: secret("e", { data: marker }) },
    400,
  ],
  [
    "create of a type that requires other data",
    {
      method: "POST",
      path: `${core}/secrets`,
      body: secret("e", { type: "kubernetes.io/tls", data: { "tls.crt": base64 } }),
    },
    422,
  ],
  [
    "create with an unknown field",
    { method: "POST", path: `${core}/secrets?fieldValidation=Strict`, body: secret("e", { more: marker }) },
    400,
  ],
  ["update", { method: "PUT", path: `${core}/secrets/a`, body: secret("a", { stringData: { more: marker } }) }, 200],
  [
    "merge patch",
    {
      method: "PATCH",
      path: `${core}/secrets/a`,
      headers: typed("application/merge-patch+json"),
      body: { stringData: { k: marker } },
    },
    200,
  ],
  [
    "strategic merge patch",
    {
      method: "PATCH",
      path: `${core}/secrets/a`,
      headers: typed("application/strategic-merge-patch+json"),
      body: { stringData: { k: marker } },
    },
    200,
  ],
  [
    "JSON patch",
    {
      method: "PATCH",
      path: `${core}/secrets/a`,
      headers: typed("application/json-patch+json"),
      body: [{ op: "add", path: "/data/z", value: base64 }],
    },
    200,
  ],
  [
    "JSON patch with a test that fails",
    {
      method: "PATCH",
      path: `${core}/secrets/a`,
      headers: typed("application/json-patch+json"),
      body: [{ op: "test", path: "/data/z", value: marker }],
    },
    422,
  ],
  [
    "apply",
    {
      method: "PATCH",
      path: `${core}/secrets/a?fieldManager=m&force=true`,
      headers: typed("application/apply-patch+yaml"),
      body: `{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: ${marker}}}`,
    },
    200,
  ],
  ...(["merge-patch+json", "strategic-merge-patch+json", "json-patch+json", "apply-patch+yaml"] as const).flatMap(
    (type): typeof rows =>
      [
        `{"data": {"k": "${marker}`,
        `["${marker}"]`,
        `{"data": {"k": ["${marker}"]}, "metadata": "${marker}"}`,
        `${marker}: [`,
      ].map((body, index) => [
        `${type}, invalid body ${index}`,
        { method: "PATCH", path: `${core}/secrets/a?fieldManager=m`, headers: typed(`application/${type}`), body },
        undefined,
      ]),
  ),
  ["get", { path: `${core}/secrets/a` }, 200],
  [
    "get, as a Table",
    { path: `${core}/secrets/a`, headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } },
    200,
  ],
  ["list", { path: `${core}/secrets` }, 200],
  ["watch", { path: `${core}/secrets?watch=1&timeoutSeconds=1` }, 200],
  ["delete", { method: "DELETE", path: `${core}/secrets/a` }, 200],
  ["delete the collection", { method: "DELETE", path: `${core}/secrets` }, 200],
  ["create a ConfigMap", { method: "POST", path: `${core}/configmaps`, body: configMap("a") }, 201],
  ["get a ConfigMap", { path: `${core}/configmaps/a` }, 200],
  ["create a TokenReview", { method: "POST", path: reviews, body: review }, 201],
  [
    "create a TokenReview with truncated JSON",
    { method: "POST", path: reviews, body: { ...review, spec: { token: [marker] } } },
    400,
  ],
  [
    "an unknown bearer token",
    { path: `${core}/secrets`, headers: { authorization: `Bearer ${marker}` }, anonymous: true },
    401,
  ],
];
for (const [what, request, want] of rows) {
  test(`the level Metadata records no secret: ${what}`, async () => {
    const { status, lines, event } = await recorded(request);
    if (want === undefined) assert.ok(status >= 400);
    else assert.equal(status, want);
    assert.ok(lines.length > 0);
    assert.deepEqual([event.level, event.requestObject, event.responseObject], ["Metadata", undefined, undefined]);
    for (const text of shown) assert.ok(!lines.join("\n").includes(text), `${text} in ${lines.join("\n")}`);
  });
}

test("the level Metadata records no issued token", async () => {
  await admin.send({ method: "POST", path: `${core}/serviceaccounts`, body: { metadata: { name: "sa" } } });
  const { status, lines } = await recorded({
    method: "POST",
    path: `${core}/serviceaccounts/sa/token`,
    body: { spec: {} },
  });
  assert.equal(status, 201);
  assert.ok(!lines.join("").includes("eyJ"));
});

const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
const bodies: [what: string, request: RawRequest, want: object][] = [
  [
    "a review",
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } },
    },
    { kind: "SelfSubjectAccessReview" },
  ],
  [
    "a binding",
    { method: "POST", path: `${core}/pods/p/binding`, body: { metadata: { name: "p" }, target: { name: "n" } } },
    { kind: "Binding" },
  ],
  [
    "an eviction",
    {
      method: "POST",
      path: `${core}/pods/p/eviction`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } },
    },
    { kind: "Eviction" },
  ],
];
for (const [what, request, want] of bodies) {
  test(`RequestResponse records the bodies of subresources and reviews: ${what}`, async () => {
    await admin.send({ method: "POST", path: `${core}/pods`, body: pod });
    const { event } = await recorded(request);
    assert.equal(event.level, "RequestResponse");
    for (const [name, value] of Object.entries(want)) assert.deepEqual(event.requestObject?.[name], value);
    assert.ok(event.responseObject !== undefined);
  });
}
