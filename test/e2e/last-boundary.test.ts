/** The command's reaction to an error that no code has caught: it logs the error, and the server goes on. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { main } from "../support/program.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { until } from "../support/until.ts";

/** A module that the process loads first: its timers and promises fail at a signal, as those of a faulty controller would. */
const planted = `process.on("SIGUSR2", () => {
  setTimeout(() => { throw new TypeError("planted in a timer"); }, 0);
  Promise.reject(new Error("planted in a promise"));
  setTimeout(() => { throw "planted without a stack"; }, 0);
});`;

const directory = mkdtempSync(join(tmpdir(), "coxswain-last-boundary-"));
let child: ChildProcess;
let exited: Promise<number | null>;
let output = "";
let client: RawClient;

before(async () => {
  const flags = ["--data-dir", directory, "--storage=memory", "--secure-port=0"];
  const preload = `data:text/javascript,${encodeURIComponent(planted)}`;
  child = spawn(process.execPath, ["--import", preload, main, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  exited = once(child, "exit").then(([code]) => code as number | null);
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece) => {
      output += piece;
    });
  await until(() => output.includes("Next: "));
  client = rawClient(readFileSync(join(directory, "kubeconfig"), "utf8"));
});
after(async () => {
  client.close();
  child.kill("SIGKILL");
  await exited;
  rmSync(directory, { recursive: true, force: true });
});

const isLive = async (): Promise<boolean> => (await client.send({ path: "/livez" })).status === 200;

test("errors in background work are logged with their stacks, and requests are answered", async () => {
  child.kill("SIGUSR2");
  await until(() => output.includes("without a stack") && output.includes("in a promise"));
  assert.match(output, /Unexpected error.*TypeError: planted in a timer.*at /s);
  assert.match(output, /Unexpected error.*Error: planted in a promise.*at /s);
  assert.match(output, /Unexpected error.*planted without a stack/);
  assert.equal(await isLive(), true);
});

test("an error that cannot be logged does not end the server", async () => {
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.kill("SIGUSR2");
  assert.equal(await isLive(), true);
  child.kill("SIGTERM");
  assert.equal(await exited, 0);
});
