import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestState } from "../../request/context.ts";
import { requestInfo } from "../../request/request-info.ts";
import { type HealthCheck, type HealthEndpoint, healthRoutes } from "./health.ts";

const ping: HealthCheck = { name: "ping", check: () => undefined };
const etcd: HealthCheck = { name: "etcd", check: () => undefined };
const override: HealthCheck = { name: "etcd-override-0", group: "etcd", check: () => "down" };
const broken: HealthCheck = { name: "broken", check: () => "no disk" };
const throwing: HealthCheck = { name: "throwing", check: () => Promise.reject(new Error("x")) };
const shutdown: HealthCheck = { name: "shutdown", check: () => undefined, endpoints: ["readyz"] };

async function get(target: string, checks: readonly HealthCheck[], inGrace = false): Promise<[number, string]> {
  const [status, text] = await ask(target, checks, inGrace);
  return [status, text];
}

type Answer = [status: number, text: string, headers: Record<string, string>];

async function ask(target: string, checks: readonly HealthCheck[], inGrace = false): Promise<Answer> {
  const info = requestInfo("GET", target);
  let got: Answer = [0, "", {}];
  const exchange = {
    respond: (status: number, headers: Record<string, string>, body: Buffer) => {
      got = [status, body.toString(), headers];
    },
  };
  const endpoint = info.path.split("/")[1] as HealthEndpoint;
  const routes = healthRoutes(endpoint, { checks, isInGracePeriod: () => inGrace, observe: () => {} });
  const route = routes.find(({ path }) => path === info.path);
  await route?.handler({
    exchange,
    info,
    auditId: "",
  } as unknown as RequestState);
  return got;
}

const rows: [target: string, checks: HealthCheck[], status: number, text: string][] = [
  ["/livez", [ping, etcd], 200, "ok"],
  ["/livez/ping", [ping], 200, "ok"],
  ["/livez/nothing", [ping], 0, ""],
  ["/livez/", [ping], 0, ""],
  ["/livez?verbose&exclude=etcd", [ping, etcd], 200, "[+]ping ok\n[+]etcd excluded: ok\nhealthz check passed\n"],
  [
    "/livez?verbose&exclude=etcd",
    [etcd, override],
    200,
    "[+]etcd excluded: ok\n[+]etcd-override-0 excluded with etcd: ok\nhealthz check passed\n",
  ],
  [
    "/livez?exclude=etcd-override-0&verbose",
    [etcd, override],
    200,
    "[+]etcd ok\n[+]etcd-override-0 excluded: ok\nhealthz check passed\n",
  ],
  ["/livez?exclude=nothing", [ping], 200, "ok"],
  [
    "/livez?verbose&exclude=nothing",
    [ping],
    200,
    '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nhealthz check passed\n',
  ],
  ["/readyz?verbose", [ping, shutdown], 200, "[+]ping ok\n[+]shutdown ok\nhealthz check passed\n"],
  ["/livez?verbose", [ping, shutdown], 200, "[+]ping ok\nhealthz check passed\n"],
  ["/livez", [ping, broken], 500, "[+]ping ok\n[-]broken failed: reason withheld\nlivez check failed\n"],
  ["/readyz", [throwing], 500, "[-]throwing failed: reason withheld\nreadyz check failed\n"],
  ["/healthz/broken", [broken], 500, "internal server error: no disk\n"],
  ["/readyz?exclude=broken", [ping, broken], 200, "ok"],
];
for (const [target, checks, status, text] of rows) {
  test(`${target} with ${checks.map(({ name }) => name).join(", ")}`, async () =>
    assert.deepEqual(await get(target, checks), [status, text]));
}

test("applies the grace period to /livez only", async () => {
  assert.equal((await get("/livez", [broken], true))[0], 200);
  assert.equal((await get("/readyz", [broken], true))[0], 500);
});

test("only the answer of a single check that passes may be sniffed, as upstream", async () => {
  const option = async (target: string): Promise<string | undefined> =>
    (await ask(target, [ping, broken]))[2]["x-content-type-options"];
  assert.equal(await option("/livez/ping"), undefined);
  for (const target of ["/livez", "/livez?exclude=broken", "/livez/broken"])
    assert.equal(await option(target), "nosniff");
});
