/** The answers of AlwaysDeny are those of kube-apiserver 1.36.0, which both plugins make log a warning at start. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";
import { defaultOptions } from "../../index.ts";

// A server whose requests are all rejected cannot write the objects that it needs.
const dataDir = mkdtempSync(join(tmpdir(), "coxswain-deny-"));
after(() => rmSync(dataDir, { recursive: true }));
const stored = { storage: "lmdb", durability: "relaxed", dataDir } as const;
await (await startTestServer(stored)).close();

const warnings: string[] = [];
const { client } = await startServerWithClient({
  ...stored,
  admission: { ...defaultOptions.admission, enable: ["AlwaysDeny", "AlwaysAdmit"] },
  logger: { info: () => undefined, warn: (message) => warnings.push(message), error: () => undefined },
});

test("AlwaysAdmit and AlwaysDeny log that they are deprecated, in the order of plugins", () =>
  assert.deepEqual(
    warnings.filter((warning) => warning.includes("deprecated")),
    ["AlwaysAdmit", "AlwaysDeny"].map(
      (name) =>
        `${name} admission controller is deprecated. Please remove this controller from your configuration files and scripts.`,
    ),
  ));

const namespace = "/api/v1/namespaces/default";
const review = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
const rows: [line: string, body: object | undefined, what: string][] = [
  [`POST ${namespace}/configmaps`, { metadata: { name: "a" } }, 'configmaps "a"'],
  [`POST ${namespace}/configmaps?dryRun=All`, { metadata: { name: "a" } }, 'configmaps "a"'],
  [`POST ${namespace}/configmaps`, { metadata: { generateName: "a-" } }, 'configmaps "a-"'],
  [`PATCH ${namespace}/services/kubernetes`, { metadata: { labels: { a: "b" } } }, 'services "kubernetes"'],
  [`POST ${namespace}/pods/x/exec?command=a`, undefined, 'pods "x"'],
  [`DELETE ${namespace}/services/kubernetes`, undefined, 'services "kubernetes"'],
  [
    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    review,
    'selfsubjectaccessreviews.authorization.k8s.io "Unknown"',
  ],
];

for (const [line, body, what] of rows) {
  test(`AlwaysDeny rejects ${line}`, async () => {
    const [method = "", path = ""] = line.split(" ");
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const answer = await client.send({ method, path, headers, ...(body && { body }) });
    assert.equal(answer.status, 403);
    assert.equal(answer.body.message, `${what} is forbidden: admission control is denying all modifications`);
  });
}

test("a server with AlwaysDeny and an empty store does not start", () =>
  assert.rejects(startTestServer({ admission: { ...defaultOptions.admission, enable: ["AlwaysDeny"] } }), {
    message: /admission control is denying all modifications$/,
  }));

test("AlwaysDeny allows reads", async () => assert.equal((await client.send({ path: namespace })).status, 200));
