/** Where the specification's letter and release 1.36 differ, what this server does: a row for each line of docs/compatibility.md, "Where the two disagree". */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type RawClient, type RawRequest, rawClient } from "../testing/raw-client.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const modified = /the object has been modified; please apply your changes to the latest version and try again/;
const merge = { "content-type": "application/merge-patch+json" };
const named = (name: string): object => ({ metadata: { name } });
const pod = { ...named("p"), spec: { containers: [{ name: "c", image: "i" }] } };
const invalidList = (why: string): RegExp => new RegExp(String.raw`"message":"ListOptions\.meta\.k8s\.io \\"\\" is invalid: ${why}.*"causes":\[\{`);

/** `$0` in a header is the resourceVersion of the secret `s`, which every successful write changes. */
const rows: [what: string, request: RawRequest, status: number, text: RegExp][] = [
  ["creating a Pod is 201", { method: "POST", path: "/api/v1/namespaces/default/pods", body: pod }, 201, /"kind":"Pod"/],

  ["PUT without a resourceVersion: most kinds take it", { method: "PUT", path: `${configMaps}/c`, body: named("c") }, 200, /"name":"c"/],
  ["… where it may create too, a Lease is created", { method: "PUT", path: `${leases}/l`, body: named("l") }, 201, /"name":"l"/],
  [
    "… and not replaced",
    { method: "PUT", path: `${leases}/l`, body: named("l") },
    422,
    /metadata.resourceVersion: Invalid value: 0: must be specified/,
  ],

  ["If-Match: a stale one on PUT", { method: "PUT", path: `${secrets}/s`, headers: { "if-match": "1" }, body: named("s") }, 409, modified],
  ["If-Match: a stale one on PATCH", { method: "PATCH", path: `${secrets}/s`, headers: { ...merge, "if-match": '"1"' }, body: {} }, 409, modified],
  ["If-Match: a stale one on DELETE", { method: "DELETE", path: `${secrets}/s`, headers: { "if-match": "1" } }, 409, modified],
  [
    "If-Match: quoted",
    { method: "PUT", path: `${secrets}/s`, headers: { "if-match": '"$0"' }, body: { ...named("s"), data: { a: "" } } },
    200,
    /"a":/,
  ],
  ["If-Match: bare", { method: "PATCH", path: `${secrets}/s`, headers: { ...merge, "if-match": "$0" }, body: { data: { b: "" } } }, 200, /"b":/],
  ["If-Match on DELETE", { method: "DELETE", path: `${secrets}/s`, headers: { "if-match": "$0" } }, 200, /"status":"Success"/],

  [
    "an invalid list is 400: a match without a version",
    { path: `${configMaps}?resourceVersionMatch=Exact` },
    400,
    invalidList("resourceVersionMatch: Forbidden"),
  ],
  [
    "an invalid list is 400: exactly at any version",
    { path: `${configMaps}?resourceVersionMatch=Exact&resourceVersion=0` },
    400,
    invalidList("resourceVersionMatch: Forbidden"),
  ],
  ["an invalid list is 400: initial events", { path: `${configMaps}?sendInitialEvents=true` }, 400, invalidList("sendInitialEvents: Forbidden")],
  [
    "an invalid watch is 400",
    { path: `${configMaps}?watch=1&sendInitialEvents=true` },
    400,
    invalidList("resourceVersionMatch: Forbidden: sendInitialEvents requires"),
  ],

  ["verbose health: livez", { path: "/livez?verbose" }, 200, /\nhealthz check passed\n$/],
  ["verbose health: readyz", { path: "/readyz?verbose" }, 200, /\nhealthz check passed\n$/],
  ["deprecated metrics", { path: "/metrics" }, 200, /^# HELP apiserver_storage_objects \[STABLE\] \(Deprecated from 1\.34\) /m],
  ["verbose health: healthz", { path: "/healthz?verbose" }, 200, /\nhealthz check passed\n$/],

  [
    "who am I, without a gate",
    { method: "POST", path: reviews, body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" } },
    201,
    /"userInfo":\{"username":"kubernetes-admin","groups":\["system:masters","system:authenticated"\],"extra":\{"authentication.kubernetes.io\/credential-id":\["X509SHA256=[0-9a-f]{64}"\]\}\}/,
  ],
  [
    "… whatever is claimed",
    { method: "POST", path: reviews, body: { status: { userInfo: { username: "x" } } } },
    201,
    /"username":"kubernetes-admin"/,
  ],
  ["… by POST alone", { path: reviews }, 405, /does not allow this method/],
  ["… not by a name", { method: "POST", path: `${reviews}/x`, body: {} }, 404, /could not find the requested resource/],
  [
    "… of the right kind",
    { method: "POST", path: reviews, body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" } },
    400,
    /TokenReview in version \\"v1\\" cannot be handled as a SelfSubjectReview/,
  ],
  ["… not by the anonymous", { method: "POST", path: reviews, body: {}, anonymous: true }, 403, /User \\"system:anonymous\\" cannot create resource/],
];

describe("differences", () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    // That it starts: 1.36 has these gates locked or gone.
    const featureGates = "DeclarativeValidation=false,AuthorizeWithSelectors=false,StructuredAuthenticationConfiguration=false";
    server = await startTestServer({ featureGates });
    client = rawClient(server.kubeconfig);
    await client.send({ method: "POST", path: configMaps, body: named("c") });
    await client.send({ method: "POST", path: secrets, body: named("s") });
  });

  after(async () => {
    client.close();
    await server.close();
  });

  for (const [what, request, status, text] of rows) {
    test(what, async () => {
      const answer = await client.send({ ...request, headers: await filled(request.headers) });
      assert.match(answer.text, text);
      assert.equal(answer.status, status, answer.text);
    });
  }

  async function filled(headers: NonNullable<RawRequest["headers"]> = {}): Promise<NonNullable<RawRequest["headers"]>> {
    if (!Object.values(headers).some((value) => value.includes("$0"))) return headers;
    const { body } = await client.send({ path: `${secrets}/s` });
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value).replace("$0", body.metadata.resourceVersion)]));
  }

  test("watch=1 on an item, and the old paths, watch", async () => {
    const paths = [
      "/api/v1/namespaces/default?watch=1",
      "/api/v1/watch/namespaces/default?",
      "/api/v1/watch/namespaces?fieldSelector=metadata.name=default",
    ];
    const answers = await Promise.all(paths.map((path) => client.send({ path: `${path}&timeoutSeconds=1` })));
    for (const { text } of answers) assert.match(text, /^\{"type":"ADDED","object":\{"kind":"Namespace".*"name":"default".*\}\n$/);
  });
});
