/** Paths with an empty segment where a name or a subresource belongs, or with a name that no object has. The answers are those of kube-apiserver 1.36. */
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
  ["GET", "/pods/%2e%2e", 400, `Name parameter invalid: "..": may not be '..'`],
  ["GET", "/pods/%2e%2e/log", 400, `Name parameter invalid: "..": may not be '..'`],
  ["POST", "/pods/%2e%2e", 405, noMethod],
  ["DELETE", "/pods/%2e%2e/binding", 405, noMethod],
  ["GET", "/pods/a%25b/eviction", 405, noMethod],
  ["PATCH", "/pods/%2e%2e/log", 405, noMethod],
  ["DELETE", "/serviceaccounts/%2e%2e/token", 405, noMethod],
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

for (const method of ["GET", "DELETE", "PATCH"])
  test(`${method} of a name that no object has, in an unknown media type: 406`, async () => {
    const headers = { accept: "text/html", ...(method === "PATCH" && patch) };
    const answer = await client.send({
      method,
      path: `${core}/pods/%2e%2e`,
      headers,
      ...(method === "PATCH" && { body: {} }),
    });
    assert.equal(answer.status, 406);
  });

test("a path of a watch selects by any name", async () => {
  const path = "/api/v1/watch/namespaces/default/pods/%2e%2e?timeoutSeconds=1";
  assert.equal((await client.send({ path })).status, 200);
});
