/** `--debug-socket-path`. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { systemClock } from "../apimachinery/clock.ts";
import type { RequestContext } from "../http/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { sendText } from "../request/answer.ts";
import type { PathRoute } from "../request/context.ts";
import { Closers } from "./closers.ts";
import { openDebugSocket } from "./debug-socket.ts";
import { defaultOptions } from "./default-options.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-debug-socket-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const socketPath = join(directory, "debug.sock");

const names = ["/debug/pprof", "/debug/pprof/*", "/debug/flags/v", "/metrics", "/debug/api_priority_and_fairness/*"];
const routes: PathRoute<RequestContext>[] = names.map((path) => ({
  path,
  handler: (context) => sendText(context, 200, `${context.exchange.method} ${context.info.path}`),
}));

async function open(path: string): Promise<{ closers: Closers; errors: unknown[] }> {
  const closers = new Closers();
  const errors: unknown[] = [];
  const logger = { info() {}, warn() {}, error: (...line: unknown[]) => void errors.push(line) };
  const options = { ...defaultOptions, debugSocketPath: path, clock: systemClock, logger };
  await openDebugSocket(options, { registry: {} as RegistryContext, routes, closers });
  return { closers, errors };
}

function send(path: string, method = "GET"): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path, method, agent: false }, (response) => {
      text(response).then((body) => resolve([response.statusCode, body.trimEnd()]), reject);
    });
    request.on("error", reject);
    request.end();
  });
}

test("the socket serves profiles and flags to its owner, and nothing else", async () => {
  const { closers, errors } = await open(socketPath);
  assert.deepEqual(errors, []);
  assert.equal(statSync(socketPath).mode & 0o777, 0o600);
  assert.deepEqual(await send("/debug/pprof/heap"), [200, "GET /debug/pprof/heap"]);
  assert.deepEqual(await send("/debug/flags/v", "PUT"), [200, "PUT /debug/flags/v"]);
  for (const path of [
    "/metrics",
    "/version",
    "/debug/api_priority_and_fairness/dump_queues",
    "/",
    "/api/v1/namespaces",
  ])
    assert.deepEqual(await send(path), [404, "404 page not found"]);
  await closers.close();
  assert.equal(existsSync(socketPath), false);
});

test("a socket that an earlier process has left is replaced", async () => {
  const left = http.createServer();
  await new Promise<void>((resolve) => left.listen(socketPath, resolve));
  const { closers, errors } = await open(socketPath);
  assert.deepEqual(errors, []);
  assert.equal((await send("/debug/pprof"))[0], 200);
  await closers.close();
  await new Promise((resolve) => left.close(resolve));
});

const rejected: [what: string, path: string, message: RegExp][] = [
  ["a file", join(directory, "file"), /file exists, and is not a socket/],
  ["a missing directory", join(directory, "none", "socket"), /listen EACCES/],
];
writeFileSync(join(directory, "file"), "kept");

for (const [what, path, message] of rejected)
  test(`${what} is logged, and the server works without the socket`, async () => {
    const { closers, errors } = await open(path);
    assert.match(JSON.stringify(errors), message);
    await closers.close();
  });
