/** OpenAPI as clients use it. With COXSWAIN_TEST_FULL=1, and Go at hand, client-go, gnostic and kube-openapi read every document in both forms. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

const go = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("go", ["version"]).status === 0;

describe("OpenAPI", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ runtimeConfig: "api/all=true" });
  });
  after(() => server.close());

  test("upstream's libraries read it", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1" }, async () => {
    const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
      cwd: join(import.meta.dirname, "openapi-client"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.equal(await text(stdout), "all well\n");
  });
});
