/**
 * The command as a process: start, a second server on the same directory, restart, shutdown, kill -9 during writes.
 * Each test continues with the directory of the one before it.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { main } from "../support/program.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 30 : 1;
const writers = 8;
const configMaps = "/api/v1/namespaces/default/configmaps";

interface Started {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  client(): RawClient;
}

/** Starts the command and waits until it prints the path of its kubeconfig, or exits. */
function start(directory: string, ...flags: string[]): Promise<Started> {
  const child = spawn(process.execPath, [main, "--data-dir", directory, "--secure-port=0", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: undefined }, // That of the tests: the command has its own.
  });
  let output = "";
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const started: Started = {
    process: child,
    output: () => output,
    exited,
    client: () => rawClient(readFileSync(join(directory, "kubeconfig"), "utf8")),
  };
  return new Promise((resolve) => {
    const listen = (piece: Buffer): void => {
      output += piece.toString();
      if (output.includes(join(directory, "kubeconfig"))) resolve(started);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    void exited.then(() => resolve(started));
  });
}

describe("the command", () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "coxswain-process-"));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  /** Ends a server as SIGTERM does. */
  async function stop(server: Started): Promise<void> {
    server.process.kill("SIGTERM");
    assert.equal(await server.exited, 0, server.output());
  }

  const authority = (): string | undefined =>
    /certificate-authority-data: \S+/.exec(readFileSync(join(directory, "kubeconfig"), "utf8"))?.[0];

  test("the first start writes a kubeconfig with mode 0600, and another server on the directory exits with an error", async () => {
    const first = await start(directory);
    const client = first.client();
    assert.equal(
      (await client.send({ method: "POST", path: configMaps, body: { metadata: { name: "kept" } } })).status,
      201,
    );
    client.close();
    assert.equal(statSync(join(directory, "kubeconfig")).mode & 0o777, 0o600);
    const second = await start(directory);
    assert.equal(await second.exited, 1);
    const holder = process.platform === "linux" ? `, process ${first.process.pid} \\(node\\)` : "";
    assert.match(second.output(), new RegExp(`is in use by another server${holder}`));
    assert.ok(second.output().includes(directory));
    await stop(first);
    assert.equal(readdirSync(join(directory, "compiled")).length, 1, "the compile cache of V8 is on disk");
  });

  test("the next start reuses the CA and serves the objects; SIGTERM ends watches with complete events and exit code 0", async () => {
    const created = authority();
    const server = await start(directory);
    assert.equal(authority(), created);
    const client = server.client();
    assert.equal((await client.send({ path: `${configMaps}/kept` })).status, 200);
    const watching = client.send({ path: `${configMaps}?watch=1` });
    await client.send({ method: "POST", path: configMaps, body: { metadata: { generateName: "seen-" } } });
    server.process.kill("SIGTERM");
    const { status, text } = await watching;
    assert.equal(status, 200);
    assert.ok(text.endsWith("\n"));
    client.close();
    assert.equal(await server.exited, 0, server.output());
    assert.doesNotMatch(server.output(), /last server/);
  });

  test(`kill -9 with ${writers} writers, ${rounds} times: serves every acknowledged write after the restart, and logs that the store was not closed`, async () => {
    const acknowledged = new Map<string, string>();
    let stamp = 0;
    let server = await start(directory);
    for (let round = 0; round < rounds; round++) {
      const client = server.client();
      let alive = true;
      let left = 50 + 137 * (round % 5); // Acknowledgments before the kill.
      const { promise: enough, resolve: kill } = Promise.withResolvers<void>();
      const write = async (writer: number): Promise<void> => {
        const name = `writer-${writer}`;
        while (alive) {
          const value = String(stamp++);
          const body = { metadata: { name }, data: { value, copy: value.repeat(100) } };
          const exists = acknowledged.has(name);
          const answer = await client
            .send(
              exists
                ? { method: "PUT", path: `${configMaps}/${name}`, body }
                : { method: "POST", path: configMaps, body },
            )
            .catch(() => undefined);
          if (answer === undefined) return;
          if (answer.status === 200 || answer.status === 201) {
            acknowledged.set(name, value);
            if (--left === 0) kill();
          } else if (answer.status === 409)
            acknowledged.set(name, "0"); // The kill prevented the answer to the create request.
          else assert.fail(answer.text);
        }
      };
      const running = Array.from({ length: writers }, (_, writer) => write(writer));
      await Promise.race([enough, server.exited]);
      server.process.kill("SIGKILL");
      await server.exited;
      alive = false;
      await Promise.all(running);
      client.close();
      server = await start(directory);
      assert.match(
        server.output(),
        /"The last server ended without closing the store" dir=".*storage" checked="all pages"/,
      );
      const reader = server.client();
      for (const [name, value] of acknowledged) {
        const { body, text } = await reader.send({ path: `${configMaps}/${name}` });
        assert.ok(
          Number(body?.data?.value) >= Number(value),
          `${name}: acknowledged ${value}, got ${text.slice(0, 300)}`,
        );
        assert.equal(body.data.copy, body.data.value.repeat(100), "no half-written object");
      }
      reader.close();
    }
    await stop(server);
    assert.equal(acknowledged.size, writers);
  });

  test("does not open or change a truncated store", async () => {
    const data = join(directory, "storage", "data.mdb");
    truncateSync(data, 3 * 4096);
    const damaged = await start(directory);
    assert.equal(await damaged.exited, 3);
    assert.match(
      damaged.output(),
      /^Error: .*data\.mdb is damaged: .* see "A store that does not open" in docs\/reliability\.md\n$/,
    );
    assert.equal(statSync(data).size, 3 * 4096);
  });
});
