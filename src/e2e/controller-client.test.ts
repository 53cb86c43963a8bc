/** An operator built on controller-runtime, and envtest with a server that is there: with COXSWAIN_TEST_FULL=1, and Go at hand. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startTestServer } from "../testing/start-test-server.ts";

const go = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("go", ["version"]).status === 0;

/** The second time the definition comes back, with objects of the same names. */
const rounds = 2;

const wanted = [
  "envtest installs the definition",
  "an account with an operator's rights has a token",
  "the leader has a lease",
  "create defaults, and names collide",
  "both versions, by webhook",
  "what the webhook refuses is told",
  "the controller moors, and its caches follow",
  "scale",
  "finalizers hold it, and what it owns goes",
  "update, with and without the version that is there",
  "apply, and its conflicts",
  "selectors, chunks, deletion of many",
  "metrics ask who reads them",
  "the operator's account may do no more",
  "the manager ends",
  "envtest removes the definition",
];

test("controller-runtime", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1", timeout: 600_000 }, async () => {
  const server = await startTestServer();
  try {
    const program = join(server.directory, "controller-client");
    const built = spawnSync("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname, "controller-client"), stdio: "inherit" });
    assert.equal(built.status, 0);
    for (let round = 0; round < rounds; round++) {
      const { stdout } = await promisify(execFile)(program, [server.kubeconfigPath], { timeout: 240_000 });
      assert.deepEqual(
        stdout.trimEnd().split("\n"),
        wanted.map((what) => `${what}: well`),
      );
    }
  } finally {
    await server.close();
  }
});
