/** Starts on a disk that accepts no write: a limit of file sizes has the same effect as a full disk. */
import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, test } from "node:test";
import { startServer } from "../../src/index.ts";
import { rawClient } from "../support/raw-client.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const dataDir = mkdtempSync(join(tmpdir(), "coxswain-full-disk-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));

const first = await startServer({ dataDir, storage: "memory", securePort: 0 });
await first.close();
const ownFiles = [
  "admin.crt",
  "admin.key",
  "apiserver.crt",
  "apiserver.key",
  "ca.crt",
  "ca.key",
  "kubeconfig",
  "service-account.key",
];
const inodes = (): number[] => ownFiles.map((file) => statSync(join(dataDir, file)).ino);

test("a start writes none of its files when none of them changes", async () => {
  const before = inodes();
  assert.deepEqual(readdirSync(dataDir).sort(), ownFiles);
  await (await startServer({ dataDir, storage: "memory", securePort: first.port })).close();
  assert.deepEqual(inodes(), before);
  await (await startServer({ dataDir, storage: "memory", securePort: 0 })).close();
  const changed = ownFiles.filter((_, index) => inodes()[index] !== before[index]);
  assert.deepEqual(changed, ["kubeconfig"], "only the kubeconfig names the port");
});

/** Runs the command with a limit on the size of the files that it writes. @returns its output, until it serves */
async function startLimited(): Promise<{ child: ChildProcessByStdio<null, Readable, Readable>; output: () => string }> {
  const flags = ["--storage", "memory", "--data-dir", dataDir, "--secure-port=0"];
  const child = spawn("bash", ["-c", 'ulimit -f 0; exec "$@"', "bash", process.execPath, main, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: undefined },
  });
  let output = "";
  await new Promise<void>((resolve) => {
    const listen = (piece: Buffer): void => {
      output += piece;
      if (/^Serving https/m.test(output)) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("close", () => resolve());
  });
  return { child, output: () => output };
}

test("a start serves with warnings when it cannot write its certificates and the kubeconfig", async (context) => {
  if (process.platform === "win32") return context.skip("needs a POSIX shell");
  const authority = readFileSync(join(dataDir, "ca.crt"), "utf8");
  rmSync(join(dataDir, "admin.crt"));
  const { child, output } = await startLimited();
  const url = /^Serving (https:\S+)$/m.exec(output())?.[1];
  assert.ok(url !== undefined, output());
  assert.doesNotMatch(output(), /^kubeconfig:/m, "the file is that of an earlier start");
  const written = [...output().matchAll(/"Could not write a file, and continues without it" file="([^"]+)"/g)];
  assert.deepEqual(
    written.map(([, file]) => file),
    ["admin.key", "kubeconfig"].map((file) => join(dataDir, file)),
  );
  const client = rawClient(first.kubeconfig.replace(first.url, url));
  assert.equal((await client.send({ path: "/api/v1/namespaces/default" })).status, 200, "it has the same authority");
  client.close();
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0, output());
  assert.equal(readFileSync(join(dataDir, "ca.crt"), "utf8"), authority);
});
