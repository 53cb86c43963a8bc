/**
 * Random answers of backends to requests that are forwarded to them.
 *
 * - Each forwarded request ends: with a response, an error, or a broken stream; at its deadline at the latest.
 * - Each log, proxied connection and stream of exec, attach and portforward ends with its client.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forwardTo } from "../src/forwarding/aggregator/forward-to.ts";
import { forwardLog } from "../src/forwarding/kubelet/log.ts";
import { isTranslated, translateStreams } from "../src/forwarding/kubelet/stream-translator.ts";
import { isTunnel, tunnelStreams } from "../src/forwarding/kubelet/tunnel.ts";
import { proxyRequest } from "../src/forwarding/proxy/proxy-request.ts";
import type { RequestState } from "../src/request/context.ts";
import { WebhookError } from "../src/webhook/contract.ts";
import { type LeavingClients, leavingClients } from "./support/leaving-clients.ts";
import { manualClock } from "./support/manual-clock.ts";
import { randomBackends } from "./support/random-backends.ts";
import { listenWithRoutes, type RouteListener } from "./support/route-listener.ts";
import { seed } from "./support/seed.ts";
import { seededRandom } from "./support/seeded-random.ts";

const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const backends = randomBackends(random);
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const counts = isFull
  ? { forwarded: 200_000, aggregated: 50_000, streams: 30_000, proxied: 20_000, logs: 50_000 }
  : { forwarded: 300, aggregated: 100, streams: 100, proxied: 100, logs: 150 };

const deadlineMs = 1000;
const clock = manualClock();
let server: RouteListener;
let clients: LeavingClients;

before(async () => {
  server = await listenWithRoutes({
    clock,
    acceptsUpgrade: ({ target }) => /^\/(?:streams|proxied|logs)\//.test(target),
    routes: [
      { path: "/forwarded/*", handler: serveForwarded },
      { path: "/aggregated/*", handler: serveAggregated },
      { path: "/streams/*", handler: serveStreams },
      { path: "/proxied/*", handler: serveProxied },
      { path: "/logs/*", handler: serveLog },
    ],
  });
  clients = leavingClients(server, random);
});
after(async () => {
  clients.close();
  await server.close();
});

function serveForwarded(context: RequestState): Promise<void> {
  const ended = new AbortController();
  const expire = (): void => ended.abort(new WebhookError("timeout", "context deadline exceeded"));
  context.exchange.onClose(clock.after(deadlineMs, expire));
  const target = { scheme: "http", host: "backend", path: "/", open: backends.openServer } as const;
  return proxyRequest(context, { target, clock, isWrapped: true, signal: ended.signal });
}

function serveAggregated(context: RequestState): Promise<void> {
  const address = { host: "backend", port: 443 };
  const user = { name: "ann", uid: "", groups: ["a"], extra: new Map() };
  const endsAt = clock.now() + deadlineMs;
  const options = { address, open: backends.openServer, user, rejectsRedirects: random(2) === 0, clock };
  return forwardTo({ ...context, endsAt }, options);
}

/** As the proxies of pods, services and nodes, which have no deadline. */
function serveProxied(context: RequestState): Promise<void> {
  const open = random(2) === 0 ? backends.openKubelet : backends.openServer;
  const target = { scheme: "http", host: "backend", path: "/x", open } as const;
  return proxyRequest(context, { target, clock, isWrapped: true });
}

const observer = {
  logRequested() {},
  logVerificationFailed() {},
  streamsRequested() {},
  translated() {},
  tunneled() {},
};

function serveStreams(context: RequestState): Promise<void> {
  const { upgrade } = context.exchange;
  const kubelet = { host: "kubelet", port: 10250, servesWebSockets: false };
  const location = { kubelet, path: "/exec/n/p/c", query: "command=x" };
  const parts = { location, open: backends.openKubelet, observer, clock, bytesPerSecondMax: 0 };
  const isOn = (): boolean => random(2) === 0;
  const connection = { metadata: {}, stdin: isOn(), stdout: isOn(), stderr: isOn(), tty: isOn() } as never;
  if (upgrade !== undefined && isTranslated(context.exchange, upgrade))
    return translateStreams(context, upgrade, connection, parts);
  if (upgrade !== undefined && isTunnel(context.exchange, upgrade)) return tunnelStreams(context, upgrade, parts);
  const target = { scheme: "https", host: "kubelet:10250", path: location.path, open: backends.openKubelet } as const;
  return proxyRequest(context, { target, clock, isWrapped: false, requiresUpgrade: true });
}

function serveLog(context: RequestState): Promise<void> {
  const kubelet = { host: "kubelet", port: 10250, servesWebSockets: false };
  const query = random(2) === 0 ? "" : "follow=true";
  const location = { kubelet, path: "/containerLogs/n/p/c", query };
  const open = pick([backends.openLog, backends.openServer]);
  return forwardLog(context, { location, open, observer });
}

const atOnce = 50;

/** Sends requests until the time of all of them has passed. */
async function sendAll(count: number, sendOne: (index: number) => Promise<number>): Promise<void> {
  for (let at = 0; at < count; at += atOnce) {
    let open = atOnce;
    const all = Promise.all(Array.from({ length: atOnce }, (_, index) => sendOne(at + index).finally(() => open--)));
    while (open > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(deadlineMs / 100);
      clients.turn();
    }
    for (const status of await all)
      assert.ok(status === 0 || status === 101 || (status >= 200 && status <= 999), String(status));
  }
  assert.deepEqual(server.failures, []);
}

const options = { timeout: 1_200_000 };
const overHttp = (index: number): LeavingClients["overHttp1"] =>
  index % 3 === 0 ? clients.overHttp1 : clients.overHttp2;

test(`a forwarded request ends at its deadline at the latest, SEED=${seed}`, options, () =>
  sendAll(counts.forwarded, (index) => overHttp(index)(`/forwarded/${index}`)),
);

test(`a request to an aggregated server ends at its deadline at the latest, SEED=${seed}`, options, () =>
  sendAll(counts.aggregated, (index) => overHttp(index)(`/aggregated/${index}`)),
);

const streamProtocols = ["v5.channel.k8s.io", "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"];

test(`the streams of a kubelet end with their client, SEED=${seed}`, options, () =>
  sendAll(counts.streams, (index) => clients.upgrade(`/streams/${index}`, streamProtocols)),
);

test(`a proxied request or connection ends with its client, SEED=${seed}`, options, () =>
  sendAll(counts.proxied, (index) =>
    index % 2 === 0
      ? clients.upgrade(`/proxied/${index}`, streamProtocols)
      : overHttp(index)(`/proxied/${index}`, { leaves: true }),
  ),
);

const logProtocols = ["binary.k8s.io", "base64.binary.k8s.io", "v4.channel.k8s.io"];

test(`a log ends with its client, SEED=${seed}`, options, () =>
  sendAll(counts.logs, (index) =>
    index % 4 === 0
      ? clients.upgrade(`/logs/${index}`, logProtocols)
      : overHttp(index)(`/logs/${index}`, { leaves: true }),
  ),
);
