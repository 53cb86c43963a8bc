/**
 * The tests that upstream publishes for servers with Pod Security admission
 * (`k8s.io/pod-security-admission/test.Run`), unchanged, against the command. Needs
 * COXSWAIN_TEST_FULL=1 and Go.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";

const skip = skipWithout("full", "go");

/** A test for the minimal pods of each level and version, and two for each of its checks: pods that pass, and pods that fail. */
const testCount = 686;

describe("upstream's tests of Pod Security", { skip }, () => {
  let directory: string;
  let server: ChildProcess;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
    const built = spawnSync("go", ["test", "-c", "-o", join(directory, "pod-security"), "."], {
      cwd: join(import.meta.dirname, "pod-security-client"),
      stdio: "inherit",
    });
    assert.equal(built.status, 0);
    server = await startCommand(join(directory, "data"));
  });
  after(async () => {
    server.kill();
    await once(server, "exit");
    rmSync(directory, { recursive: true, force: true });
  });

  test("pass for every level and version", { timeout: 300_000 }, async () => {
    const { stdout } = await promisify(execFile)(join(directory, "pod-security"), ["-test.v"], {
      env: { ...process.env, KUBECONFIG: join(directory, "data/kubeconfig") },
      maxBuffer: 64 << 20,
    }).catch((error: { stdout: string }) => error);
    const results = [...stdout.matchAll(/^ {4}--- (PASS|FAIL|SKIP): (\S+)/gm)];
    assert.deepEqual(
      results.flatMap(([, result, name]) => (result === "PASS" ? [] : [`${result} ${name}`])),
      [],
      stdout,
    );
    assert.equal(results.length, testCount);
  });
});

async function startCommand(data: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, "--data-dir", data, "--secure-port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) if (line.startsWith("kubeconfig:")) return child;
  throw new Error("the server did not start");
}
