/**
 * The package on every runtime that `engines` of package.json names: the command serves clients over
 * HTTP/2, HTTP/1.1 and WebSockets, stores objects, checks rights, and ends. Also: older runtimes
 * print which one is needed. Needs COXSWAIN_TEST_FULL=1: builds the package and installs the runtimes.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { createCertificates } from "../../src/server/serving/certificates.ts";
import { http2Client } from "../support/http2-client.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { type CuttableWatch, http1Watches, http2Watches } from "../support/watch-connection.ts";

const root = join(import.meta.dirname, "..", "..");
const skip = skipWithout("full");
const directory = mkdtempSync(join(tmpdir(), "coxswain-runtimes-"));
const main = join(root, "dist/main.js");
const configMaps = "/api/v1/namespaces/default/configmaps";

/** A package of npm, and the arguments of its program. */
interface Runtime {
  readonly name: string;
  readonly version: string;
  readonly program: "node" | "bun" | "deno";
  readonly args: readonly string[];
}

const runtimes: readonly Runtime[] = [
  { name: "Node.js 22.20", version: "22.20.0", program: "node", args: [] },
  { name: "Node.js 22", version: "22", program: "node", args: [] },
  { name: "Node.js 24.7", version: "24.7.0", program: "node", args: [] },
  { name: "Node.js 24", version: "24", program: "node", args: [] },
  { name: "Node.js 26", version: "26", program: "node", args: [] },
  { name: "Bun", version: "1.4", program: "bun", args: [] },
  { name: "Deno", version: "2.9", program: "deno", args: ["run", "--allow-all"] },
];

const tooOld: readonly (readonly [version: string, program: "node" | "bun" | "deno", args: readonly string[]])[] = [
  ["18", "node", []],
  ["20", "node", []],
  ["22.19.0", "node", []],
  ["1.3.0", "bun", []],
  ["2.0.0", "deno", ["run", "--allow-all"]],
];

/** @returns the path of its program */
function installed(program: string, version: string): string {
  const at = join(directory, `${program}-${version}`);
  mkdirSync(at);
  writeFileSync(join(at, "package.json"), JSON.stringify({ allowScripts: { [program]: true } }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", `${program}@${version}`], { cwd: at, stdio: "ignore" });
  return join(at, "node_modules/.bin", program);
}

interface Running {
  readonly kubeconfig: string;
  readonly client: RawClient;
  /** @returns the exit code */
  stop(): Promise<number | null>;
}

async function start({ args }: Runtime, program: string, data: string): Promise<Running> {
  const flags = ["--data-dir", data, "--secure-port", "0"];
  const child = spawn(program, [...args, main, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece) => {
        output += piece;
        if (output.includes("Next: ")) resolve();
      });
    exited.then((code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const kubeconfig = readFileSync(join(data, "kubeconfig"), "utf8");
  const client = rawClient(kubeconfig);
  return {
    kubeconfig,
    client,
    stop() {
      client.close();
      child.kill("SIGTERM");
      return exited;
    },
  };
}

before(() => {
  if (skip !== false) return;
  execFileSync(process.execPath, [join(root, "tools/build.ts")], { cwd: root, stdio: "ignore" });
});
after(() => rmSync(directory, { recursive: true, force: true }));

for (const runtime of runtimes)
  describe(runtime.name, { skip }, () => {
    const data = join(directory, `data-${runtime.program}-${runtime.version}`);
    let program: string;
    let server: Running;
    before(async () => {
      program = installed(runtime.program, runtime.version);
      server = await start(runtime, program, data);
    });
    after(() => server.stop());

    test("serves requests over HTTP/2 and HTTP/1.1", async () => {
      const { client, kubeconfig } = server;
      const created = await client.send({ method: "POST", path: configMaps, body: { metadata: { name: "one" } } });
      assert.equal(created.status, 201);
      const http2 = http2Client(kubeconfig);
      const applied = await http2.send(
        `PATCH ${configMaps}/two?fieldManager=me`,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "two" }, data: { a: "b" } },
        "application/apply-patch+yaml",
      );
      assert.equal(applied.status, 201);
      const { body } = await client.send({ path: configMaps });
      assert.deepEqual(
        body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
        ["kube-root-ca.crt", "one", "two"],
      );
      http2.close();
    });

    for (const [protocol, connect] of [
      ["HTTP/2", http2Watches],
      ["HTTP/1.1", http1Watches],
    ] as const)
      test(`sends watch events over ${protocol}`, async () => {
        const watches = connect(server.kubeconfig);
        let watch: CuttableWatch | undefined;
        const name = protocol.toLowerCase().replace("/", "-");
        const received = new Promise<string>((resolve, reject) => {
          watch = watches.open(`${configMaps}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3D${name}`, {
            event: ({ object }) => resolve((object as { metadata: { name: string } }).metadata.name),
            end: (error) => reject(new Error(JSON.stringify(error))),
          });
        });
        await server.client.send({ method: "POST", path: configMaps, body: { metadata: { name } } });
        assert.equal(await received, name);
        watch?.cut();
        watches.break();
      });

    test("sends watch events over WebSockets", async () => {
      const text = await exchange(
        server.kubeconfig,
        [
          `GET ${configMaps}?watch=1 HTTP/1.1`,
          "Host: x",
          "Origin: https://x",
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        ],
        { credentials: credentialsOf(server.kubeconfig), until: /"type":"ADDED"/ },
      );
      assert.match(text, /^HTTP\/1.1 101 /);
    });

    for (const method of ["GET", "POST"])
      for (const body of method === "GET" ? [""] : ["", '{"metadata":{"name":"hole"}}'])
        test(`authorizes ${method} with Upgrade and ${body.length} bytes of body`, async () => {
          const headers = ["Host: x", "Connection: Upgrade", "Upgrade: websocket", `Content-Length: ${body.length}`];
          const lines = [`${method} /api/v1/namespaces/default/secrets HTTP/1.1`, ...headers];
          const text = await exchange(server.kubeconfig, lines, { body, credentials: {}, until: /\r\n\r\n/ });
          assert.match(text, /^HTTP\/1.1 (401|403|400) /);
          assert.equal((await server.client.send({ path: `${configMaps}/hole` })).status, 404);
        });

    test("survives clients that break connections with Upgrade", async () => {
      for (let count = 0; count < 50; count++)
        for (const length of [0, 2]) {
          const headers = ["Host: x", "Connection: Upgrade", "Upgrade: websocket", `Content-Length: ${length}`];
          const lines = [`POST ${configMaps} HTTP/1.1`, ...headers];
          await exchange(server.kubeconfig, lines, { body: "{}".slice(0, length), credentials: {}, until: /^/ });
        }
      assert.equal((await server.client.send({ path: `${configMaps}/one` })).status, 200);
    });

    test("checks rights and certificates", async () => {
      const anonymous = await server.client.send({ path: configMaps, anonymous: true });
      assert.equal(anonymous.status, 403);
      const token = await server.client.send({
        path: configMaps,
        anonymous: true,
        headers: { authorization: "Bearer x" },
      });
      assert.equal(token.status, 401);
      const { serving } = await createCertificates({ now: Date.now(), names: ["system:masters"] });
      const strange = await exchange(server.kubeconfig, ["GET /version HTTP/1.1", "Host: x"], {
        credentials: serving,
        until: /\r\n\r\n/,
      });
      assert.match(strange, /^HTTP\/1.1 401 /);
    });

    test("ends with 0, and has its objects after a restart", async () => {
      assert.equal(await server.stop(), 0);
      server = await start(runtime, program, data);
      assert.equal((await server.client.send({ path: `${configMaps}/one` })).status, 200);
    });
  });

interface ClientCertificate {
  readonly cert?: string;
  readonly key?: string;
}

/** Sends one request over HTTP/1.1. @returns what it receives until it matches, or the server ends the connection */
async function exchange(
  kubeconfig: string,
  lines: readonly string[],
  { body = "", credentials, until }: { body?: string; credentials: ClientCertificate; until: RegExp },
): Promise<string> {
  const { ca } = credentialsOf(kubeconfig);
  const port = Number(/server: https:\/\/[^:]+:(\d+)/.exec(kubeconfig)?.[1]);
  const socket = tls.connect({
    host: "127.0.0.1",
    port,
    ca,
    ALPNProtocols: ["http/1.1"],
    ...credentials,
  });
  let text = "";
  const ended = new Promise<void>((resolve) => {
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      if (until.test(text)) resolve();
    });
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  });
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  await ended;
  socket.destroy();
  return text;
}

describe("a runtime that is too old", { skip }, () => {
  for (const [version, program, args] of tooOld)
    test(`${program} ${version}`, () => {
      const path = installed(program, version);
      const sentence =
        /^Coxswain needs at least Node\.js 22\.20 or 24\.7, Deno 2\.9, or Bun 1\.4\. This is \S+ [\d.]+\.$/;
      const command = spawnSync(path, [...args, main], { encoding: "utf8", timeout: 60_000 });
      assert.equal(command.status, 1);
      assert.match(command.stderr.trim(), sentence);
      const importing = join(directory, "importing.mjs");
      writeFileSync(
        importing,
        `import(${JSON.stringify(join(root, "dist/index.js"))}).catch((error) => console.log(error.message));`,
      );
      const library = spawnSync(path, [...args, importing], { encoding: "utf8", timeout: 60_000 });
      assert.match(library.stdout.trim(), sentence);
    });
});
