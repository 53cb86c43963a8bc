/** client-go applies to a server. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { skipWithout } from "../support/needs.ts";
import { startTestServer } from "../support/start-test-server.ts";

const skip = skipWithout("full", "go");

test("client-go applies, extracts the applied fields and upgrades managers", {
  skip,
}, async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
    cwd: join(import.meta.dirname, "apply-client"),
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.equal(await text(stdout), "all well\n");
});
