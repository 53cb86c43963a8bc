/**
 * kubectl's logs, exec, cp, attach and port-forward, with upstream's implementation of the kubelet's protocols as the
 * kubelet (in `kubelet/`): SPDY and WebSockets, from kubectl 1.27 on. With COXSWAIN_TEST_FULL=1, if Go is installed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import { kubectls } from "../support/kubectl.ts";
import { kubeletOptions } from "../support/kubelet-options.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const skip = skipWithout("full", "go", "kubectl");

const hour = 3_600_000;
const bigBytes = 3_000_000;

let directory: string;
let kubelet: ChildProcess;
let server: TestServer;
let backend: Server;

/** Builds and starts the kubelet. */
async function startKubelet(): Promise<{ port: number; ca: string; client: { cert: string; key: string } }> {
  const binary = join(directory, "kubelet");
  const built = spawnSync("go", ["build", "-o", binary, "."], {
    cwd: join(import.meta.dirname, "kubelet"),
    encoding: "utf8",
  });
  assert.equal(built.status, 0, built.stderr);
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
  const authority = await createAuthority({ subject: { commonName: "kubelets" }, ...validity });
  const names = ["127.0.0.1"];
  const subject = { commonName: "kubelet" };
  const serving = await issueCertificate(authority, { subject, usage: "server", names, ...validity });
  const client = await issueCertificate(authority, { subject, usage: "client", names: [], ...validity });
  const files = ["serving.crt", "serving.key"].map((name) => join(directory, name));
  writeFileSync(files[0] as string, serving.cert);
  writeFileSync(files[1] as string, serving.key);
  kubelet = spawn(binary, ["127.0.0.1:0", ...files], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(kubelet.stdout as NodeJS.ReadableStream), "line");
  return { port: Number(line), ca: authority.cert, client };
}

before(async () => {
  if (skip) return;
  directory = mkdtempSync(join(tmpdir(), "coxswain-kubelet-"));
  const { port, ...certificates } = await startKubelet();
  server = await startTestServer({
    ...kubeletOptions(certificates, directory),
    admission: { enable: [], disable: ["ServiceAccount"] },
  });
  const client = rawClient(server.kubeconfig);
  const create = async (path: string, body: object): Promise<void> => {
    const { status, text } = await client.send({ method: "POST", path, body });
    assert.equal(status, 201, text);
  };
  await create("/api/v1/nodes", { metadata: { name: "n" } });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const headers = { "content-type": "application/merge-patch+json" };
  await client.send({ method: "PATCH", path: "/api/v1/nodes/n/status", headers, body: { status } });
  const spec = { nodeName: "n", containers: [{ name: "c", image: "i", stdin: true }] };
  await create("/api/v1/namespaces/default/pods", { metadata: { name: "web" }, spec });
  const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  await client.send({
    method: "PATCH",
    path: "/api/v1/namespaces/default/pods/web/status",
    headers,
    body: { status: running },
  });
  client.close();
  backend = createServer((request, response) => void request.pipe(response));
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
});
after(async () => {
  if (skip) return;
  await server.close();
  kubelet.kill();
  backend.close();
  rmSync(directory, { recursive: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(kubectl: string, environment: Readonly<Record<string, string>>, args: readonly string[]): ChildProcess {
  const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: server.kubeconfigPath, ...environment };
  return spawn(kubectl, args, { env, timeout: 60_000 });
}

/** The transports of exec and port-forward. Those that a version does not know have no effect. */
const transports: readonly Record<string, string>[] = ["true", "false"].map((value) => ({
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: value,
  KUBECTL_PORT_FORWARD_WEBSOCKETS: value,
}));

for (const kubectl of skip ? [] : kubectls()) {
  for (const environment of transports) {
    describe(`${basename(kubectl)} ${environment.KUBECTL_REMOTE_COMMAND_WEBSOCKETS === "true" ? "WebSocket" : "SPDY"}`, () => {
      const run = async (args: readonly string[], input: string | Buffer = ""): Promise<Ran> => {
        const child = start(kubectl, environment, args);
        child.stdin?.end(input);
        const [out, err, [code]] = await Promise.all([
          text(child.stdout as NodeJS.ReadableStream),
          text(child.stderr as NodeJS.ReadableStream),
          once(child, "close"),
        ]);
        return { code: code as number | null, out, err };
      };
      const line = (number: number): string => `/containerLogs/default/web/c line ${number}\n`;

      test("logs", async () => {
        const all = { code: 0, out: [0, 1, 2].map(line).join(""), err: "" };
        assert.deepEqual(await run(["logs", "web"]), all);
        assert.deepEqual(await run(["logs", "-f", "web"]), all);
      });

      test("exec", async () => {
        const exec = (...command: string[]): Promise<Ran> => run(["exec", "web", "--", ...command]);
        assert.deepEqual(await exec("echo", "a b", "c"), { code: 0, out: "a b c\n", err: "" });
        const failed = await exec("sh", "-c", "echo out; echo err >&2; exit 7");
        assert.equal(failed.code, 7);
        assert.equal(failed.out, "out\n");
        assert.equal(failed.err, "err\ncommand terminated with exit code 7\n");
        const missing = await exec("no-such-command");
        assert.equal(missing.code, 1);
        assert.match(missing.err, /executable file not found/);
      });

      test("exec with much input", async () => {
        const input = randomBytes(bigBytes);
        const { code, out } = await run(["exec", "-i", "web", "--", "sha256sum"], input);
        assert.deepEqual([code, out], [0, `${createHash("sha256").update(input).digest("hex")}  -\n`]);
      });

      test("cp in both directions", async () => {
        const place = mkdtempSync(join(directory, "cp-"));
        const [source, remote, copy] = ["a", "remote", "copy"].map((name) => join(place, name)) as [
          string,
          string,
          string,
        ];
        mkdirSync(source);
        writeFileSync(join(source, "big"), randomBytes(bigBytes));
        const to = await run(["cp", source, `web:${remote}`]);
        assert.deepEqual([to.code, to.err], [0, ""]);
        const from = await run(["cp", `web:${remote}`, copy]);
        assert.equal(from.code, 0, from.err);
        assert.ok(readFileSync(join(copy, "big")).equals(readFileSync(join(source, "big"))));
      });

      test("attach", async () => {
        const { code, out } = await run(["attach", "-i", "web"], "hello\nbye\n");
        assert.deepEqual([code, out], [0, "attached\nHELLO\nBYE\n"]);
      });

      test("port-forward", async () => {
        const { port } = backend.address() as AddressInfo;
        const child = start(kubectl, environment, ["port-forward", "web", `:${port}`]);
        const [said] = await once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
        const url = `http://127.0.0.1:${/127.0.0.1:(\d+)/.exec(said)?.[1]}/`;
        const bodies = Array.from({ length: 3 }, () => randomBytes(bigBytes));
        const echoes = await Promise.all(
          bodies.map(async (body) => Buffer.from(await (await fetch(url, { method: "POST", body })).arrayBuffer())),
        );
        for (const [index, echo] of echoes.entries()) assert.ok(echo.equals(bodies[index] as Buffer));
        child.kill();
        await once(child, "close");
      });
    });
  }
}
