import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { basename } from "node:path";
import { test } from "node:test";
import { skipWithout } from "../../../test/support/needs.ts";
import { findListener, findLocker, formatProcess } from "./find-process.ts";

const notLinux = skipWithout("linux");
const self = { pid: process.pid, name: basename(process.argv0) };

for (const host of ["127.0.0.1", "::1", "0.0.0.0"]) {
  test(`finds the process that listens on ${host}`, async (context) => {
    if (notLinux) return context.skip(notLinux);
    const server = net.createServer().listen(0, host);
    const failed = await Promise.race([
      once(server, "listening").then(() => false),
      once(server, "error").then(() => true),
    ]);
    if (failed) return context.skip(`this machine has no ${host}`);
    const { port } = server.address() as net.AddressInfo;
    assert.deepEqual(findListener(port), { uid: process.getuid?.(), process: self });
    server.close();
    await once(server, "close");
    assert.equal(findListener(port), undefined);
  });
}

test("finds no process for a file without a lock, or for no file", () => {
  assert.equal(findLocker(import.meta.filename), undefined);
  assert.equal(findLocker("/nothing"), undefined);
});

test("describes a process", () => assert.equal(formatProcess({ pid: 12, name: "node" }), "process 12 (node)"));
