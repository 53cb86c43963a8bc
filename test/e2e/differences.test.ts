/**
 * A row for each line of docs/compatibility/specification.md.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createDefaultAccounts } from "../support/pod-namespaces.ts";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const modified = /the object has been modified; please apply your changes to the latest version and try again/;
const merge = { "content-type": "application/merge-patch+json" };
const named = (name: string): object => ({ metadata: { name } });
const onlyDry = "&fieldSelector=metadata.name=dry";
const pod = { ...named("p"), spec: { containers: [{ name: "c", image: "i" }] } };
const invalidList = (why: string): RegExp =>
  new RegExp(String.raw`"message":"ListOptions\.meta\.k8s\.io \\"\\" is invalid: ${why}.*"causes":\[\{`);

/**
 * `$0` in a header is the resourceVersion of the secret `s`, which every successful write changes.
 */
const rows: [what: string, request: RawRequest, status: number, text: RegExp][] = [
  [
    "creating a Pod is 201",
    { method: "POST", path: "/api/v1/namespaces/default/pods", body: pod },
    201,
    /"kind":"Pod"/,
  ],

  [
    "PUT without a resourceVersion updates most kinds",
    { method: "PUT", path: `${configMaps}/c`, body: named("c") },
    200,
    /"name":"c"/,
  ],
  [
    "PUT without a resourceVersion creates a Lease",
    { method: "PUT", path: `${leases}/l`, body: named("l") },
    201,
    /"name":"l"/,
  ],
  [
    "PUT without a resourceVersion does not replace a Lease",
    { method: "PUT", path: `${leases}/l`, body: named("l") },
    422,
    /metadata.resourceVersion: Invalid value: 0: must be specified/,
  ],

  [
    "a stale If-Match rejects a PUT",
    { method: "PUT", path: `${secrets}/s`, headers: { "if-match": "1" }, body: named("s") },
    409,
    modified,
  ],
  [
    "a stale If-Match rejects a PATCH",
    { method: "PATCH", path: `${secrets}/s`, headers: { ...merge, "if-match": '"1"' }, body: {} },
    409,
    modified,
  ],
  [
    "a stale If-Match rejects a DELETE",
    { method: "DELETE", path: `${secrets}/s`, headers: { "if-match": "1" } },
    409,
    modified,
  ],
  [
    "a quoted If-Match is accepted",
    { method: "PUT", path: `${secrets}/s`, headers: { "if-match": '"$0"' }, body: { ...named("s"), data: { a: "" } } },
    200,
    /"a":/,
  ],
  [
    "an unquoted If-Match is accepted",
    { method: "PATCH", path: `${secrets}/s`, headers: { ...merge, "if-match": "$0" }, body: { data: { b: "" } } },
    200,
    /"b":/,
  ],
  [
    "a current If-Match on DELETE is accepted",
    { method: "DELETE", path: `${secrets}/s`, headers: { "if-match": "$0" } },
    200,
    /"status":"Success"/,
  ],

  [
    "an invalid list is 400: resourceVersionMatch without a resourceVersion",
    { path: `${configMaps}?resourceVersionMatch=Exact` },
    400,
    invalidList("resourceVersionMatch: Forbidden"),
  ],
  [
    "an invalid list is 400: Exact at resourceVersion 0",
    { path: `${configMaps}?resourceVersionMatch=Exact&resourceVersion=0` },
    400,
    invalidList("resourceVersionMatch: Forbidden"),
  ],
  [
    "an invalid list is 400: sendInitialEvents",
    { path: `${configMaps}?sendInitialEvents=true` },
    400,
    invalidList("sendInitialEvents: Forbidden"),
  ],
  [
    "an invalid watch is 400",
    { path: `${configMaps}?watch=1&sendInitialEvents=true` },
    400,
    invalidList("resourceVersionMatch: Forbidden: sendInitialEvents requires"),
  ],

  [
    "with Strict, an unknown field in a create is 400",
    { method: "POST", path: `${configMaps}?fieldValidation=Strict`, body: { ...named("x"), y: 1 } },
    400,
    /cannot be handled as a ConfigMap: strict decoding error: unknown field \\"y\\"/,
  ],
  [
    "with Strict, an unknown field in a PUT is 400",
    { method: "PUT", path: `${configMaps}/c?fieldValidation=Strict`, body: { ...named("c"), y: 1 } },
    400,
    /cannot be handled as a ConfigMap: strict decoding error: unknown field \\"y\\"/,
  ],
  [
    "with Strict, an unknown field in a merge patch is 422",
    { method: "PATCH", path: `${configMaps}/c?fieldValidation=Strict`, headers: merge, body: { y: 1 } },
    422,
    /"message":" \\"\\" is invalid: patch: Invalid value: .*: strict decoding error: unknown field /,
  ],
  [
    "with Strict, an unknown field in a strategic merge patch is 422",
    {
      method: "PATCH",
      path: `${configMaps}/c?fieldValidation=Strict`,
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: { y: 1 },
    },
    422,
    /"message":" \\"\\" is invalid: patch: Invalid value: \\"map\[y:1\]\\": strict decoding error: unknown field /,
  ],
  [
    "a patch that does not match the kind is 422 at any level",
    { method: "PATCH", path: `${configMaps}/c?fieldValidation=Ignore`, headers: merge, body: { data: 5 } },
    422,
    /"message":" \\"\\" is invalid: patch: Invalid value: .*: json: cannot unmarshal number into Go struct field ConfigMap.data of type map/,
  ],
  ...["Ignore", "Warn", "Strict"].map((level): [string, RawRequest, number, RegExp] => [
    `an undeclared field in an apply is 500 with ${level}`,
    {
      method: "PATCH",
      path: `${configMaps}/c?fieldManager=m&fieldValidation=${level}`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "ConfigMap", ...named("c"), y: 1 },
    },
    500,
    /failed to create typed patch object \(\/c; \/v1, Kind=ConfigMap\): \.y: field not declared in schema/,
  ]),
  [
    "the option for unsafe deletion is ignored while its gate is off",
    {
      method: "DELETE",
      path: `${configMaps}/c?ignoreStoreReadErrorWithClusterBreakingPotential=true&gracePeriodSeconds=0&dryRun=All`,
    },
    200,
    /"status":"Success"/,
  ],
  [
    "limit with resourceVersion=0 is ignored",
    { path: "/api/v1/namespaces?limit=1&resourceVersion=0" },
    200,
    /^(?!.*"continue").*"name":"kube-system"/,
  ],
  [
    "limit without resourceVersion=0 is applied",
    { path: "/api/v1/namespaces?limit=1" },
    200,
    /^(?!.*"name":"kube-system").*"continue":"/,
  ],
  [
    "deletecollection answers with a list",
    { method: "DELETE", path: `${configMaps}?dryRun=All&fieldSelector=metadata.name=c` },
    200,
    /^\{"kind":"ConfigMapList",.*"items":\[\{"metadata":\{"name":"c"/,
  ],

  ["verbose livez ends with healthz's last line", { path: "/livez?verbose" }, 200, /\nhealthz check passed\n$/],
  ["verbose readyz ends with healthz's last line", { path: "/readyz?verbose" }, 200, /\nhealthz check passed\n$/],
  [
    "metrics include deprecated names",
    { path: "/metrics" },
    200,
    /^# HELP apiserver_storage_objects \[STABLE\] \(Deprecated from 1\.34\) /m,
  ],
  ["verbose healthz ends with healthz's last line", { path: "/healthz?verbose" }, 200, /\nhealthz check passed\n$/],

  [
    "SelfSubjectReview needs no feature gate",
    { method: "POST", path: reviews, body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" } },
    201,
    /"userInfo":\{"username":"kubernetes-admin","groups":\["system:masters","system:authenticated"\],"extra":\{"authentication.kubernetes.io\/credential-id":\["X509SHA256=[0-9a-f]{64}"\]\}\}/,
  ],
  [
    "SelfSubjectReview ignores the status of the request",
    { method: "POST", path: reviews, body: { status: { userInfo: { username: "x" } } } },
    201,
    /"username":"kubernetes-admin"/,
  ],
  ["SelfSubjectReview accepts only POST", { path: reviews }, 405, /does not allow this method/],
  [
    "SelfSubjectReview cannot be requested by name",
    { method: "POST", path: `${reviews}/x`, body: {} },
    404,
    /could not find the requested resource/,
  ],
  [
    "SelfSubjectReview rejects a body of another kind",
    { method: "POST", path: reviews, body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" } },
    400,
    /TokenReview in version \\"v1\\" cannot be handled as a SelfSubjectReview/,
  ],
  [
    "SelfSubjectReview is forbidden for anonymous users",
    { method: "POST", path: reviews, body: {}, anonymous: true },
    403,
    /User \\"system:anonymous\\" cannot create resource/,
  ],
];

/**
 * Writes of the ConfigMap `dry`, which exists before each deletion and does not exist before each
 * creation.
 */
const dryRuns: [what: string, request: RawRequest, status: number, isDry: boolean][] = [
  [
    "a create with dryRun without a value is stored",
    { method: "POST", path: `${configMaps}?dryRun`, body: named("dry") },
    201,
    false,
  ],
  [
    "a create with an empty dryRun is stored",
    { method: "POST", path: `${configMaps}?dryRun=`, body: named("dry") },
    201,
    false,
  ],
  [
    "a create with an empty dryRun and All is a dry run",
    { method: "POST", path: `${configMaps}?dryRun&dryRun=All`, body: named("dry") },
    201,
    true,
  ],
  [
    "a create with another dryRun is rejected",
    { method: "POST", path: `${configMaps}?dryRun=all`, body: named("dry") },
    422,
    true,
  ],
  ["a delete with dryRun without a value deletes", { method: "DELETE", path: `${configMaps}/dry?dryRun` }, 200, false],
  [
    "a delete with dryRun in the query is a dry run",
    { method: "DELETE", path: `${configMaps}/dry?dryRun=All` },
    200,
    true,
  ],
  [
    "a delete with dryRun in the body is a dry run",
    { method: "DELETE", path: `${configMaps}/dry`, body: { dryRun: ["All"] } },
    200,
    true,
  ],
  [
    "a delete with dryRun in the query and a body is a dry run",
    { method: "DELETE", path: `${configMaps}/dry?dryRun=All`, body: {} },
    200,
    true,
  ],
  [
    "a delete with dryRun in query and body is a dry run",
    { method: "DELETE", path: `${configMaps}/dry?dryRun=All`, body: { dryRun: ["All"] } },
    200,
    true,
  ],
  [
    "a delete with an empty dryRun in the query and a body deletes",
    { method: "DELETE", path: `${configMaps}/dry?dryRun`, body: {} },
    200,
    false,
  ],
  [
    "a delete with another dryRun in the query and a body is rejected",
    { method: "DELETE", path: `${configMaps}/dry?dryRun=all`, body: {} },
    422,
    true,
  ],
  [
    "a deletecollection with dryRun in the query and a body is a dry run",
    { method: "DELETE", path: `${configMaps}?dryRun=All${onlyDry}`, body: {} },
    200,
    true,
  ],
  [
    "a deletecollection with dryRun in the body is a dry run",
    { method: "DELETE", path: `${configMaps}?${onlyDry}`, body: { dryRun: ["All"] } },
    200,
    true,
  ],
  [
    "a deletecollection with dryRun without a value deletes",
    { method: "DELETE", path: `${configMaps}?dryRun${onlyDry}` },
    200,
    false,
  ],
];

// 1.36 has locked or removed these gates; this server starts with them.
const { client } = await startServerWithClient({
  featureGates: "DeclarativeValidation=false,AuthorizeWithSelectors=false,StructuredAuthenticationConfiguration=false",
});

describe("differences", () => {
  before(async () => {
    await createDefaultAccounts(client, "default");
    await client.send({ method: "POST", path: configMaps, body: named("c") });
    await client.send({ method: "POST", path: secrets, body: named("s") });
  });

  for (const [what, request, status, text] of rows) {
    test(what, async () => {
      const answer = await client.send({ ...request, headers: await filled(request.headers) });
      assert.match(answer.text, text);
      assert.equal(answer.status, status, answer.text);
    });
  }

  for (const [what, request, status, isDry] of dryRuns) {
    test(what, async () => {
      const existsBefore = request.method === "DELETE";
      await client.send(
        existsBefore
          ? { method: "POST", path: configMaps, body: named("dry") }
          : { method: "DELETE", path: `${configMaps}/dry` },
      );
      const answer = await client.send(request);
      assert.equal(answer.status, status, answer.text);
      const { status: found } = await client.send({ path: `${configMaps}/dry` });
      assert.equal(found === 200, isDry === existsBefore);
    });
  }

  async function filled(headers: NonNullable<RawRequest["headers"]> = {}): Promise<NonNullable<RawRequest["headers"]>> {
    if (!Object.values(headers).some((value) => value.includes("$0"))) return headers;
    const { body } = await client.send({ path: `${secrets}/s` });
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        String(value).replace("$0", body.metadata.resourceVersion),
      ]),
    );
  }

  test("warns about at most 100 unknown fields", async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`f${String(index).padStart(3, "0")}`, 1]),
    );
    const { headers } = await client.send({
      method: "POST",
      path: `${configMaps}?dryRun=All`,
      body: { ...named("w"), ...unknown },
    });
    const warnings = String(headers.warning).split(", ");
    assert.equal(warnings.length, 100);
    assert.equal(warnings.at(-1), '299 - "unknown field \\"f099\\""');
  });

  test("an empty list and an empty entry reset managed fields without tracking the request", async () => {
    const path = `${configMaps}/reset?fieldManager=m`;
    const apply = { apiVersion: "v1", kind: "ConfigMap", ...named("reset"), data: { a: "b" } };
    const patched = async (managedFields: object[], data: object): Promise<unknown> => {
      await client.send({
        method: "PATCH",
        path,
        headers: { "content-type": "application/apply-patch+yaml" },
        body: apply,
      });
      const { body } = await client.send({
        method: "PATCH",
        path,
        headers: merge,
        body: { metadata: { managedFields }, data },
      });
      return body.metadata.managedFields?.map(({ operation }: { operation: string }) => operation);
    };
    assert.deepEqual(await patched([], { c: "d" }), undefined);
    assert.deepEqual(await patched([{}], { e: "f" }), undefined);
    assert.deepEqual(await patched([{ operation: "" }], { e: "g" }), undefined);
  });

  test("a managed fields entry of a scale has no time", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const labels = { a: "b" };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
    };
    await client.send({ method: "POST", path: deployments, body: { ...named("d"), spec } });
    await client.send({
      method: "PATCH",
      path: `${deployments}/d/scale`,
      headers: merge,
      body: { spec: { replicas: 2 } },
    });
    const { body } = await client.send({ path: `${deployments}/d` });
    const entries: { subresource?: string; time?: string }[] = body.metadata.managedFields;
    assert.deepEqual(
      entries.map(({ subresource, time }) => [subresource, time === undefined]),
      [
        ["scale", true],
        [undefined, false],
      ],
    );
  });

  test("custom resources have the default columns Name and Age; in expressions a `datetime` is a string and a `date-time` a timestamp", async () => {
    const times = { at: { type: "string", format: "datetime" }, on: { type: "string", format: "date-time" } };
    const definition = (rule: string): object => ({
      ...named("things.example.com"),
      spec: {
        group: "example.com",
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: times, "x-kubernetes-validations": [{ rule }] } },
          },
        ],
      },
    });
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const rejected = await client.send({
      method: "POST",
      path: `${path}?dryRun=All`,
      body: definition("self.at.getFullYear() > 0"),
    });
    assert.match(rejected.text, /found no matching overload for 'getFullYear' applied to 'string\.\(\)'/);
    const created = await client.send({
      method: "POST",
      path,
      body: definition("self.at.size() > 0 && self.on.getFullYear() > 0"),
    });
    assert.equal(created.status, 201, created.text);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const table = await client.send({ path: "/apis/example.com/v1/namespaces/default/things", headers: { accept } });
    assert.deepEqual(
      table.body.columnDefinitions.map(({ name }: { name: string }) => name),
      ["Name", "Age"],
    );
  });

  test("watch=1 on an item and the deprecated watch paths watch", async () => {
    const paths = [
      "/api/v1/namespaces/default?watch=1",
      "/api/v1/watch/namespaces/default?",
      "/api/v1/watch/namespaces?fieldSelector=metadata.name=default",
    ];
    const answers = await Promise.all(paths.map((path) => client.send({ path: `${path}&timeoutSeconds=1` })));
    for (const { text } of answers)
      assert.match(text, /^\{"type":"ADDED","object":\{"kind":"Namespace".*"name":"default".*\}\n$/);
  });
});
