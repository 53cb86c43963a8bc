/**
 * TokenReview against a real server: the user and audiences of a token, and the error for an
 * invalid one.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { AuthenticationV1Api, KubeConfig } from "@kubernetes/client-node";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import type { Answer, RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const path = "/apis/authentication.k8s.io/v1/tokenreviews";
const core = "/api/v1/namespaces/default";
const directory = mkdtempSync(join(tmpdir(), "coxswain-token-review-"));

writeFileSync(join(directory, "tokens.csv"), 'static,eve,7,"a,b"\nplain,bob,8\n');
const { server, client: admin } = await startServerWithClient({
  tokenAuthFile: join(directory, "tokens.csv"),
  apiAudiences: ["api", "other-api"],
});
after(() => rmSync(directory, { recursive: true, force: true }));

const review = (spec: object, more: Partial<RawRequest> = {}): Promise<Answer> =>
  admin.send({ method: "POST", path, body: { spec }, ...more });

async function created(collection: string, body: object): Promise<Answer["body"]> {
  const answer = await admin.send({ method: "POST", path: collection, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const eve = { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] };
const unknown = { user: {}, error: "invalid bearer token" };

const rows: [what: string, spec: object, status: object][] = [
  [
    "authenticates a static token",
    { token: "static" },
    { authenticated: true, user: eve, audiences: ["api", "other-api"] },
  ],
  [
    "authenticates a static token without groups",
    { token: "plain" },
    {
      authenticated: true,
      user: { username: "bob", uid: "8", groups: ["system:authenticated"] },
      audiences: ["api", "other-api"],
    },
  ],
  [
    "returns the requested audience of the server",
    { token: "static", audiences: ["other-api"] },
    { authenticated: true, user: eve, audiences: ["other-api"] },
  ],
  [
    "returns those of the requested audiences that the server has",
    { token: "static", audiences: ["x", "other-api", "api"] },
    { authenticated: true, user: eve, audiences: ["other-api", "api"] },
  ],
  [
    "rejects a token when the server has none of the requested audiences",
    { token: "static", audiences: ["x"] },
    unknown,
  ],
  [
    "returns all audiences of the server for an empty list",
    { token: "static", audiences: [] },
    { authenticated: true, user: eve, audiences: ["api", "other-api"] },
  ],
  ["rejects an unknown token", { token: "nope" }, unknown],
  ["rejects an unknown token that looks like a JWT", { token: "a.b.c" }, unknown],
  [
    "ignores what follows a space, like in an Authorization header",
    { token: "static x" },
    { authenticated: true, user: eve, audiences: ["api", "other-api"] },
  ],
  ["rejects a token of spaces", { token: "  " }, unknown],
  ["rejects a token after a space", { token: " static" }, unknown],
  [
    "ignores a line break after the token",
    { token: "static\n" },
    { authenticated: true, user: eve, audiences: ["api", "other-api"] },
  ],
  ["rejects a token with the name of an object property", { token: "__proto__" }, unknown],
];
for (const [what, spec, status] of rows) {
  test(what, async () => {
    const answer = await review(spec);
    assert.equal(answer.status, 201, answer.text);
    const { metadata, ...rest } = answer.body;
    assert.deepEqual(rest, {
      kind: "TokenReview",
      apiVersion: "authentication.k8s.io/v1",
      spec: withoutEmptyLists(spec),
      status,
    });
    assert.equal(metadata.managedFields.length, 1);
  });
}

/** @returns the spec of the answer, which omits empty lists */
function withoutEmptyLists(spec: object): object {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value.length > 0));
}

const invalidRequests: [what: string, request: Partial<RawRequest>, code: number, message: string | RegExp][] = [
  ["without a token", { body: { spec: {} } }, 400, "token is required for TokenReview in authentication"],
  ["without a spec", { body: {} }, 400, "token is required for TokenReview in authentication"],
  [
    "with a number as the token",
    { body: { spec: { token: 5 } } },
    400,
    /cannot unmarshal number into Go struct field TokenReviewSpec\.spec\.token of type string"/,
  ],
  [
    "with an unknown field and strict field validation",
    { path: `${path}?fieldValidation=Strict`, body: { spec: { token: "static", x: 1 } } },
    400,
    /strict decoding error: unknown field \\"spec\.x\\"/,
  ],
  [
    "in a namespace",
    { path: "/apis/authentication.k8s.io/v1/namespaces/default/tokenreviews", body: { spec: { token: "static" } } },
    404,
    /.*/,
  ],
  [
    "with GET of the collection",
    { method: "GET", body: undefined as unknown as object },
    405,
    "the server does not allow this method on the requested resource",
  ],
  [
    "with GET by name",
    { method: "GET", path: `${path}/x`, body: undefined as unknown as object },
    404,
    "the server could not find the requested resource",
  ],
  [
    "at v1beta1",
    { path: "/apis/authentication.k8s.io/v1beta1/tokenreviews" },
    404,
    "the server could not find the requested resource",
  ],
];
for (const [what, request, code, message] of invalidRequests) {
  test(`rejects a review ${what}`, async () => {
    const answer = await review({ token: "static" }, request);
    assert.equal(answer.status, code, answer.text);
    if (typeof message === "string") assert.equal(answer.body.message, message);
    else assert.match(answer.text, message);
  });
}

describe("tokens of a ServiceAccount", () => {
  let uid = "";
  const tokenFor = async (spec: object = {}): Promise<string> =>
    (await created(`${core}/serviceaccounts/robot/token`, { spec })).status.token;
  const statusOf = async (spec: object): Promise<Answer["body"]> => (await review(spec)).body.status;
  before(async () => {
    uid = (await created(`${core}/serviceaccounts`, { metadata: { name: "robot" } })).metadata.uid;
  });

  test("have the bound pod and node as extra values, and end with the pod", async () => {
    const node = await created("/api/v1/nodes", { metadata: { name: "n1" } });
    const spec = { serviceAccountName: "robot", nodeName: "n1", containers: [{ name: "c", image: "i" }] };
    const pod = await created(`${core}/pods`, { metadata: { name: "p" }, spec });
    const token = await tokenFor({
      boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: pod.metadata.uid },
    });
    const { user, ...status } = await statusOf({ token });
    assert.deepEqual(status, { authenticated: true, audiences: ["api", "other-api"] });
    const { "authentication.kubernetes.io/credential-id": id, ...extra } = user.extra;
    assert.match(id[0], /^JTI=[0-9a-f-]{36}$/);
    assert.deepEqual(extra, {
      "authentication.kubernetes.io/node-name": ["n1"],
      "authentication.kubernetes.io/node-uid": [node.metadata.uid],
      "authentication.kubernetes.io/pod-name": ["p"],
      "authentication.kubernetes.io/pod-uid": [pod.metadata.uid],
    });
    assert.deepEqual(
      [user.username, user.uid, user.groups],
      [
        "system:serviceaccount:default:robot",
        uid,
        ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      ],
    );
    await admin.send({ method: "DELETE", path: `${core}/pods/p`, body: { gracePeriodSeconds: 0 } });
    assert.deepEqual(await statusOf({ token }), {
      user: {},
      error: "[invalid bearer token, service account token has been invalidated]",
    });
    await created(`${core}/pods`, { metadata: { name: "p" }, spec });
    assert.match(
      (await statusOf({ token })).error,
      /^\[invalid bearer token, pod UID \(.*\) does not match service account pod ref claim \(.*\)\]$/,
    );
  });

  test("authenticate for their audiences only", async () => {
    const token = await tokenFor({ audiences: ["vault", "x"] });
    assert.equal(
      (await statusOf({ token })).error,
      '[invalid bearer token, token audiences ["vault" "x"] is invalid for the target audiences ["api" "other-api"]]',
    );
    assert.deepEqual((await statusOf({ token, audiences: ["x", "y"] })).audiences, ["x"]);
    assert.equal(
      (await statusOf({ token, audiences: ["y"] })).error,
      '[invalid bearer token, token audiences ["vault" "x"] is invalid for the target audiences ["y"]]',
    );
  });

  test("are rejected with a wrong signature", async () => {
    const token = await tokenFor();
    const [head = "", body = ""] = token.split(".");
    const { error } = await statusOf({ token: `${head}.${body}.${Buffer.alloc(64, 1).toString("base64url")}` });
    assert.equal(error, "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]");
  });

  test("end with the account, and stay invalid when it is created again", async () => {
    const token = await tokenFor();
    await admin.send({ method: "DELETE", path: `${core}/serviceaccounts/robot`, body: {} });
    assert.equal((await statusOf({ token })).error, '[invalid bearer token, serviceaccounts "robot" not found]');
    await created(`${core}/serviceaccounts`, { metadata: { name: "robot" } });
    assert.match(
      (await statusOf({ token })).error,
      /^\[invalid bearer token, service account UID \(.*\) does not match claim \(.*\)\]$/,
    );
  });
});

test("requires permission to create TokenReviews", async () => {
  const bob = { authorization: "Bearer plain" };
  const forbidden = await review({ token: "static" }, { headers: bob, anonymous: true });
  assert.equal(forbidden.status, 403);
  assert.equal(
    forbidden.body.message,
    'tokenreviews.authentication.k8s.io is forbidden: User "bob" cannot create resource "tokenreviews" in API group "authentication.k8s.io" at the cluster scope',
  );
  await created("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "bob" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:auth-delegator" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "bob" }],
  });
  assert.equal((await review({ token: "static" }, { headers: bob, anonymous: true })).status, 201);
});

test("client-node and kubectl create TokenReviews", async () => {
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "static" } };
  const { status } = await config.makeApiClient(AuthenticationV1Api).createTokenReview({ body });
  assert.deepEqual([status?.authenticated, status?.user?.username], [true, "eve"]);
  const file = join(directory, "review.json");
  writeFileSync(file, JSON.stringify(body));
  for (const kubectl of kubectls()) {
    const args = ["create", "-f", file, "-o", "jsonpath={.status.user.username}"];
    const { output } = await runKubectl(kubectl, args, { directory, kubeconfigPath: server.kubeconfigPath });
    assert.equal(output, "eve");
  }
});

const skip = skipWithout("full", "go");
test("client-go's webhook authenticator sends TokenReviews in JSON and in protobuf", {
  skip,
}, async () => {
  const program = spawn("go", ["run", ".", server.kubeconfigPath, "static", "unknown"], {
    cwd: join(import.meta.dirname, "token-review-client"),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = "eve 7 [a b system:authenticated] map[]\ninvalid bearer token\n";
  assert.equal(await text(program.stdout), output + output);
});
