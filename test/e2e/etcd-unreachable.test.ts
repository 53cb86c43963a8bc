/** The command while etcd cannot be reached: it waits, and logs why. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

const main = join(import.meta.dirname, "../../src/main.ts");

test("a start logs why etcd does not answer, and goes on with its attempts", async (context) => {
  const closed = net.createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as net.AddressInfo;
  closed.close();
  const args = [main, "--secure-port=0", `--etcd-servers=http://127.0.0.1:${port}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  context.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  // Node ends a process in which nothing waits any more after some two seconds, before the first attempt is over.
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (line.includes("etcd does not answer")) break;
  }
  const expected = new RegExp(
    `"etcd does not answer, and the start waits" servers="http://127.0.0.1:${port}" error=".*connection refused`,
  );
  assert.match(lines.join("\n"), expected);
  assert.equal(child.exitCode, null);
});
