/** Every method on every shape of path below custom kinds, and bodies of writes, against the answers of a kube-apiserver (tools/golden/server/custom-resource-paths.ts). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { askForPaths, type PathRow } from "./custom-resources/paths.ts";

const file = new URL("custom-resources/testdata/paths.json.gz", import.meta.url);
const recorded: readonly PathRow[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer();
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

test("every path below custom kinds is answered as kube-apiserver answers it", async () => {
  const rows = await askForPaths(async (line, body, sent) => {
    const [method = "", path = ""] = line.split(" ");
    const request = {
      method,
      path,
      headers: { "content-type": "application/json", ...sent },
      ...(body !== undefined && { body }),
    };
    const { status, headers, text } = await client.send(request);
    return {
      status,
      contentType: String(headers["content-type"] ?? ""),
      warnings: [headers.warning ?? []].flat().join(", "),
      text,
    };
  });
  assert.equal(rows.length, recorded.length);
  const differing = rows.flatMap((row, index) =>
    JSON.stringify(row) === JSON.stringify(recorded[index]) ? [] : [[row, recorded[index]]],
  );
  assert.deepEqual(differing, []);
});

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/paths";
const wholes = "/apis/paths.example.com/v1/namespaces/paths/wholes";

/** Of a user who may only create what is called `b`, and may watch. */
const rights: readonly (readonly [line: string, status: number])[] = [
  [`POST ${wholes}/b?dryRun=All`, 201],
  [`POST ${wholes}/c?dryRun=All`, 403],
  [`POST ${wholes}?dryRun=All`, 403],
  [`PUT ${wholes}?dryRun=All`, 403],
  [`POST ${wholes}/b/status?dryRun=All`, 403],
  [`HEAD ${wholes}/a`, 403],
  [`POST /apis/paths.example.com/v1/watch/namespaces/paths/wholes?timeoutSeconds=1`, 200],
];

test("a POST to a name asks for the right to create that name, and one below /watch/ to watch", async () => {
  const rules = [
    { apiGroups: ["paths.example.com"], resources: ["wholes"], resourceNames: ["b"], verbs: ["create"] },
    { apiGroups: ["paths.example.com"], resources: ["wholes"], verbs: ["watch"] },
  ];
  await client.send({ method: "POST", path: `${rbac}/roles`, body: { metadata: { name: "b" }, rules } });
  const binding = {
    metadata: { name: "b" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "b" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
  };
  await client.send({ method: "POST", path: `${rbac}/rolebindings`, body: binding });
  const ann = rawClient((await server.as("ann")).kubeconfig);
  const body = { apiVersion: "paths.example.com/v1", kind: "Whole", metadata: { name: "b" }, spec: {} };
  for (const [line, wanted] of rights) {
    const [method = "", path = ""] = line.split(" ");
    const { status } = await ann.send({ method, path, ...(method !== "HEAD" && { body }) });
    assert.equal(status, wanted, line);
  }
  ann.close();
});
