/** The command's reactions to signals, and to a setting with which it cannot start. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { main } from "../support/program.ts";
import { rawClient } from "../support/raw-client.ts";
import { until } from "../support/until.ts";

interface Command {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

function run(...flags: string[]): Command {
  // Under npm, the command counts signals in quick succession once.
  const { npm_lifecycle_event: _, ...env } = process.env;
  const child = spawn(process.execPath, [main, ...flags], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  return { process: child, output: () => output, exited: once(child, "close").then(([code]) => code as number | null) };
}

async function waitUntilServing(command: Command): Promise<void> {
  const ended = command.exited.then((code) => assert.fail(`exited with ${code}: ${command.output()}`));
  while (!command.output().includes("Next: "))
    await Promise.race([once(command.process.stdout as NodeJS.ReadableStream, "data"), ended]);
  ended.catch(() => {}); // The command may exit later.
}

describe("signals", () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "coxswain-signals-"));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));
  const start = (...flags: string[]): Command =>
    run("--data-dir", directory, "--storage=memory", "--secure-port=0", ...flags);
  const connect = () => rawClient(readFileSync(join(directory, "kubeconfig"), "utf8"));

  test("during the shutdown delay /readyz fails, /livez does not, and requests are served", async () => {
    const command = start("--shutdown-delay-duration=1h");
    await waitUntilServing(command);
    const client = connect();
    assert.equal((await client.send({ path: "/readyz" })).status, 200);
    command.process.kill("SIGTERM");
    const ready = await until(async () => {
      const answer = await client.send({ path: "/readyz" });
      return answer.status !== 200 && answer;
    });
    assert.equal(ready.status, 500);
    assert.match(ready.text, /\[-\]shutdown failed: reason withheld\n.*readyz check failed\n$/s);
    assert.equal((await client.send({ path: "/livez" })).status, 200);
    assert.equal((await client.send({ path: "/api/v1/namespaces" })).status, 200);
    client.close();
    command.process.kill("SIGTERM");
    assert.equal(await command.exited, 128 + 15, "the second signal exits at once");
  });

  test("SIGINT shuts the server down like SIGTERM", async () => {
    const command = start();
    await waitUntilServing(command);
    command.process.kill("SIGINT");
    assert.equal(await command.exited, 0, command.output());
  });

  test("a setting with which the server cannot start is printed, and the command exits with 1", async () => {
    const command = start("--tls-cert-file=/no/such", "--tls-private-key-file=/no/such");
    assert.equal(await command.exited, 1);
    assert.match(command.output(), /^Error: .*no such file/);
  });
});
