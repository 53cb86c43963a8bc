/** A session of client-go is recorded, and replayed strictly. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { recordCommand } from "../../src/cli/record/command.ts";
import { replayCommand } from "../../src/cli/replay/command.ts";
import { skipWithout } from "../support/needs.ts";
import { runCommand } from "../support/run-command.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const skip = skipWithout("full", "go");
const expected = [
  "0 secrets left, not found: true",
  ...["a", "b", "c"].map((name) => `add ${name} 1`),
  ...["a", "b", "c"].map((name) => `delete ${name} 4`),
  ...["a", "b", "c"].flatMap((name) => [2, 3, 4].map((x) => `update ${name} ${x}`)),
];

describe("client-go", { skip }, () => {
  let server: TestServer;
  let program: string;
  before(async () => {
    server = await startTestServer();
    program = join(server.directory, "program");
    const cwd = join(import.meta.dirname, "informer-client");
    const { status, stderr } = spawnSync("go", ["build", "-o", program, "./replayed"], { cwd, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });
  after(() => server.close());

  for (const type of ["application/json", "application/vnd.kubernetes.protobuf"])
    for (const watchList of ["true", "false"])
      test(`a typed client and an informer end the same way: ${type}, WatchListClient=${watchList}`, async () => {
        const name = `${type.replace("/", "-")}-${watchList}`;
        const [file, report] = [join(server.directory, `${name}.jsonl`), join(server.directory, name)];
        const command = ["sh", "-c", `${program} ${type} > ${report}`];
        const env = { ...process.env, KUBE_FEATURE_WatchListClient: watchList };
        const session = ["--kubeconfig", server.kubeconfigPath, "--to", file, "--", ...command];
        assert.deepEqual(await runCommand((output) => recordCommand.run(session, output, env)), success);
        assert.deepEqual(readFileSync(report, "utf8").trim().split("\n"), expected);
        assert.ok(!readFileSync(file, "utf8").includes("Planted-1234"));
        assert.deepEqual(
          await runCommand((output) => replayCommand.run([file, "--", ...command], output, env)),
          success,
        );
        assert.deepEqual(readFileSync(report, "utf8").trim().split("\n"), expected);
      });
});

const success = { code: 0, out: "", err: "" };
