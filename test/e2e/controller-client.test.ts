/**
 * An operator built on controller-runtime, with an existing server and with one that envtest
 * starts. Runs with COXSWAIN_TEST_FULL=1 if Go is installed.
 */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";
import { startTestServer } from "../support/start-test-server.ts";

const skip = skipWithout("full", "go");

/** In the second round the definition is created again, with objects of the same names. */
const rounds = 2;

const expectedChecks = [
  "envtest installs the definition",
  "a service account with the operator's permissions has a token",
  "the leader holds a lease",
  "create sets defaults and rejects an existing name",
  "both versions are converted by webhook",
  "webhook rejections are reported",
  "the controller reconciles and its caches follow",
  "scale",
  "finalizers delay the deletion, and owned objects are deleted",
  "update with and without the current resourceVersion",
  "apply and its conflicts",
  "selectors, chunks and deletion of a collection",
  "the metrics endpoint authenticates and authorizes",
  "the service account has no other permissions",
  "the manager stops",
  "envtest removes the definition",
];

describe("controller-runtime", { skip, timeout: 600_000 }, () => {
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
      expectedChecks.map((what) => `${what}: well`),
    );
  };

  test("an operator works with an existing server", async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    for (let round = 0; round < rounds; round++) await check([server.kubeconfigPath]);
  });

  test("an operator works with a server that envtest starts from the directory of `coxswain envtest`", async () => {
    const assets = join(directory, "assets");
    const made = spawnSync(process.execPath, [main, "envtest", assets], { encoding: "utf8" });
    assert.equal(made.stdout, `export KUBEBUILDER_ASSETS='${assets}'\n`, made.stderr);
    await check([], { KUBEBUILDER_ASSETS: assets });
  });
});
