/**
 * OpenAPI on the wire, to clients of every sort. With COXSWAIN_TEST_FULL=1, and Go at hand, client-go, gnostic and kube-openapi read every document
 * in both forms.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const go = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("go", ["version"]).status === 0;

const v2Types = [
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
] as const;
const v3Type = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
const gzip = { "accept-encoding": "gzip" };
const apps = "/openapi/v3/apis/apps/v1";

/** Path, headers of the request, and of the answer; undefined: it has no such header. */
const rows: [
  what: string,
  request: RawRequest,
  status: number,
  headers: Record<string, string | RegExp | undefined>,
][] = [
  [
    "v2",
    { path: "/openapi/v2" },
    200,
    { "content-type": "application/json", etag: /^"[0-9A-F]{128}"$/, vary: "Accept-Encoding, Accept" },
  ],
  [
    "v2, packed",
    { path: "/openapi/v2", headers: gzip },
    200,
    { "content-encoding": "gzip", "content-type": "application/json" },
  ],
  ["v2 in protobuf", { path: "/openapi/v2", headers: { accept: v2Types[0] } }, 200, { "content-type": v2Types[0] }],
  [
    "v2 in protobuf, by its old name",
    { path: "/openapi/v2", headers: { accept: v2Types[1] } },
    200,
    { "content-type": v2Types[0] },
  ],
  [
    "v2's head",
    { method: "HEAD", path: "/openapi/v2" },
    200,
    { "content-type": "application/json", "content-length": /^\d{7}$/ },
  ],
  [
    "v2 as nothing that there is",
    { path: "/openapi/v2", headers: { accept: "text/html" } },
    406,
    { "content-type": undefined },
  ],
  [
    "the index",
    { path: "/openapi/v3" },
    200,
    { "content-type": "application/json", etag: /^"[0-9A-F]{128}"$/, "cache-control": "no-cache, private" },
  ],
  ["the index's head", { method: "HEAD", path: "/openapi/v3" }, 200, { "content-type": "application/json" }],
  [
    "a document",
    { path: apps },
    200,
    { "content-type": "application/json", "cache-control": "no-cache, private", expires: undefined },
  ],
  ["a document, packed", { path: apps, headers: gzip }, 200, { "content-encoding": "gzip" }],
  [
    "a document in protobuf",
    { path: apps, headers: { accept: v3Type } },
    200,
    { "content-type": v3Type, vary: "Accept" },
  ],
  ["a document's head", { method: "HEAD", path: apps }, 200, { "content-length": /^\d{6}$/ }],
  [
    "a document with a wrong hash",
    { path: `${apps}?hash=1` },
    301,
    { location: /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/ },
  ],
  [
    "a document that is not there",
    { path: "/openapi/v3/apis/none/v1" },
    404,
    { "content-type": undefined, "content-length": "0" },
  ],
  ["who is nobody", { path: "/openapi/v3", anonymous: true }, 403, { "content-type": "application/json" }],
];

describe("OpenAPI", () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    server = await startTestServer({ runtimeConfig: "api/all=true" });
    client = rawClient(server.kubeconfig);
  });
  after(() => {
    client.close();
    return server.close();
  });

  for (const [what, request, status, headers] of rows) {
    test(what, async () => {
      const answer = await client.send(request);
      assert.equal(answer.status, status);
      for (const [name, want] of Object.entries(headers)) {
        const value = answer.headers[name];
        if (want instanceof RegExp) assert.match(String(value), want, name);
        else assert.equal(value, want, name);
      }
      if (request.method === "HEAD") assert.equal(answer.bytes.length, 0);
    });
  }

  test("every address of the index leads to a document that may be kept for good", async () => {
    const { body } = await client.send({ path: "/openapi/v3" });
    const urls = Object.values<{ serverRelativeURL: string }>(body.paths).map(
      ({ serverRelativeURL }) => serverRelativeURL,
    );
    assert.ok(urls.length > 50);
    for (const path of urls) {
      const { status, headers, bytes } = await client.send({ path, headers: gzip });
      assert.deepEqual(
        [status, headers["cache-control"], headers.etag],
        [200, "public, immutable", `"${path.split("=")[1]}"`],
      );
      assert.ok(Date.parse(headers.expires as string) > Date.now() + 364 * 24 * 60 * 60 * 1000);
      assert.equal(JSON.parse(gunzipSync(bytes).toString()).openapi, "3.0.0");
      const again = await client.send({ path, headers: { "if-none-match": headers.etag as string } });
      assert.deepEqual([again.status, again.bytes.length], [304, 0]);
    }
  });

  test("upstream's libraries read it", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1" }, async () => {
    const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
      cwd: join(import.meta.dirname, "openapi-client"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.equal(await text(stdout), "all well\n");
  });
});
