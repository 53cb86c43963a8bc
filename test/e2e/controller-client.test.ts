/** An operator built on controller-runtime, with a server that is there and with one that envtest starts: with COXSWAIN_TEST_FULL=1, and Go at hand. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { startTestServer } from "../support/start-test-server.ts";

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

const root = join(import.meta.dirname, "../..");

describe("controller-runtime", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1", timeout: 600_000 }, () => {
  let directory: string;
  let program: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
    program = join(directory, "controller-client");
    const built = spawnSync("go", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "controller-client"),
      stdio: "inherit",
    });
    assert.equal(built.status, 0);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const check = async (args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<void> => {
    const { stdout } = await promisify(execFile)(program, args, {
      timeout: 240_000,
      env: { ...process.env, ...environment },
    });
    assert.deepEqual(
      stdout.trimEnd().split("\n"),
      wanted.map((what) => `${what}: well`),
    );
  };

  test("a server that is there", async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    for (let round = 0; round < rounds; round++) await check([server.kubeconfigPath]);
  });

  test("a server of envtest's own, from the directory that `coxswain envtest` makes", async () => {
    const assets = join(directory, "assets");
    const made = spawnSync(process.execPath, [join(root, "src/main.ts"), "envtest", assets], { encoding: "utf8" });
    assert.equal(made.stdout, `export KUBEBUILDER_ASSETS='${assets}'\n`, made.stderr);
    await check([], { KUBEBUILDER_ASSETS: assets });
  });
});
