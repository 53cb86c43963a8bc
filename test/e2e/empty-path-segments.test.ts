/** Paths with an empty segment where a name or a subresource belongs. The answers are those of kube-apiserver 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";

const { client } = await startServerWithClient();
const core = "/api/v1/namespaces/default";
await client.send({ method: "POST", path: `${core}/configmaps`, body: { metadata: { name: "c" } } });
await client.send({
  method: "POST",
  path: `${core}/services`,
  body: { metadata: { name: "s" }, spec: { ports: [{ port: 1 }] } },
});

const noName = "name must be provided";
const noMethod = "the server does not allow this method on the requested resource";
const noResource = "the server could not find the requested resource";
const patch = { "content-type": "application/merge-patch+json" };
const rows: [method: string, path: string, code: number, message: string][] = [
  ["GET", "/pods//log", 400, noName],
  ["POST", "/pods//log", 405, noMethod],
  ["GET", "/pods//status", 400, noName],
  ["PUT", "/pods//status", 400, noName],
  ["DELETE", "/pods//status", 405, noMethod],
  ["GET", "/pods//exec", 400, noName],
  ["PUT", "/pods//exec", 405, noMethod],
  ["DELETE", "/services//proxy/x", 400, noName],
  ["GET", "/serviceaccounts//token", 405, noMethod],
  ["POST", "/serviceaccounts//token", 400, noName],
  ["GET", "/services/s//status", 404, noResource],
  ["PATCH", "/services/s//status", 404, noResource],
  ["DELETE", "/configmaps/c//status", 404, noResource],
];
for (const [method, path, code, message] of rows)
  test(`${method} ${path}: ${code}`, async () => {
    const answer = await client.send({
      method,
      path: core + path,
      ...(method !== "GET" && method !== "DELETE" && { body: {} }),
      ...(method === "PATCH" && { headers: patch }),
    });
    assert.deepEqual([answer.status, answer.body.message], [code, message]);
  });

test("no such path changes the object", async () => {
  assert.equal((await client.send({ path: `${core}/configmaps/c` })).status, 200);
});
