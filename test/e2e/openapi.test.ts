/**
 * OpenAPI on the wire: formats, caching and errors. With COXSWAIN_TEST_FULL=1 and Go, client-go,
 * gnostic and kube-openapi read every document in JSON and in protobuf.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { skipWithout } from "../support/needs.ts";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const skip = skipWithout("full", "go");

const v2Types = [
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
] as const;
const v3Type = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
const gzip = { "accept-encoding": "gzip" };
const apps = "/openapi/v3/apis/apps/v1";

/** `headers` are of the response; undefined means that it has no such header. */
const rows: [
  what: string,
  request: RawRequest,
  status: number,
  headers: Record<string, string | RegExp | undefined>,
][] = [
  [
    "serves v2 as JSON with an ETag",
    { path: "/openapi/v2" },
    200,
    { "content-type": "application/json", etag: /^"[0-9A-F]{128}"$/, vary: "Accept-Encoding, Accept" },
  ],
  [
    "compresses v2",
    { path: "/openapi/v2", headers: gzip },
    200,
    { "content-encoding": "gzip", "content-type": "application/json" },
  ],
  [
    "serves v2 as protobuf",
    { path: "/openapi/v2", headers: { accept: v2Types[0] } },
    200,
    { "content-type": v2Types[0] },
  ],
  [
    "serves v2 as protobuf for its other media type",
    { path: "/openapi/v2", headers: { accept: v2Types[1] } },
    200,
    { "content-type": v2Types[0] },
  ],
  [
    "answers HEAD for v2 with the length",
    { method: "HEAD", path: "/openapi/v2" },
    200,
    { "content-type": "application/json", "content-length": /^\d{7}$/ },
  ],
  [
    "answers 406 for a media type that v2 does not have",
    { path: "/openapi/v2", headers: { accept: "text/html" } },
    406,
    { "content-type": undefined },
  ],
  [
    "serves the v3 index, which clients must revalidate",
    { path: "/openapi/v3" },
    200,
    { "content-type": "text/plain; charset=utf-8", etag: /^"[0-9A-F]{128}"$/, "cache-control": "no-cache, private" },
  ],
  [
    "answers HEAD for the v3 index",
    { method: "HEAD", path: "/openapi/v3" },
    200,
    { "content-type": "text/plain; charset=utf-8" },
  ],
  [
    "serves a v3 document, which clients must revalidate without a hash",
    { path: apps },
    200,
    { "content-type": "application/json", "cache-control": "no-cache, private", expires: undefined },
  ],
  ["compresses a v3 document", { path: apps, headers: gzip }, 200, { "content-encoding": "gzip" }],
  [
    "serves a v3 document as protobuf",
    { path: apps, headers: { accept: v3Type } },
    200,
    { "content-type": v3Type, vary: "Accept" },
  ],
  [
    "answers HEAD for a v3 document with the length",
    { method: "HEAD", path: apps },
    200,
    { "content-length": /^\d{6}$/ },
  ],
  [
    "redirects from a wrong hash to the current one",
    { path: `${apps}?hash=1` },
    301,
    { location: /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/ },
  ],
  [
    "answers 404 for a group version that does not exist",
    { path: "/openapi/v3/apis/none/v1" },
    404,
    { "content-type": undefined, "content-length": "0" },
  ],
  [
    "answers 403 for anonymous requests",
    { path: "/openapi/v3", anonymous: true },
    403,
    { "content-type": "application/json" },
  ],
];

const { server, client } = await startServerWithClient({ runtimeConfig: "api/all=true" });

describe("OpenAPI", () => {
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

  test("serves every document of the v3 index as immutable at its URL", async () => {
    const { text } = await client.send({ path: "/openapi/v3" });
    const urls = Object.values<{ serverRelativeURL: string }>(JSON.parse(text).paths).map(
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
      const revalidated = await client.send({ path, headers: { "if-none-match": headers.etag as string } });
      assert.deepEqual([revalidated.status, revalidated.bytes.length], [304, 0]);
    }
  });

  test("upstream's libraries read every document", {
    skip,
  }, async () => {
    const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
      cwd: join(import.meta.dirname, "openapi-client"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.equal(await text(stdout), "all well\n");
  });
});
