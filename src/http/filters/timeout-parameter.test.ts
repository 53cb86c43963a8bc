import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Exchange } from "../../request/exchange.ts";
import { requestInfo } from "../../request/request-info.ts";
import type { RequestContext } from "../contract.ts";
import { openRequests } from "./open-requests.ts";
import { timeoutParameterFilter } from "./timeout-parameter.ts";

const timeoutMs = 60_000;

/**
 * A request that arrived so long ago, and when it is answered with a timeout; undefined: not within
 * a day.
 */
const rows: readonly (readonly [request: string, waitedMs: number, expiresMs: number | undefined | "rejected"])[] = [
  ["GET /api/v1/nodes", 0, undefined],
  ["GET /api/v1/nodes?timeout=", 0, undefined],
  ["GET /api/v1/nodes?timeout=0s", 0, undefined],
  ["GET /api/v1/nodes?timeout=-5s", 0, undefined],
  ["GET /api/v1/nodes?timeout=60s", 0, undefined],
  ["GET /api/v1/nodes?timeout=9999999h", 0, "rejected"],
  ["GET /api/v1/nodes?timeout=1500ms", 0, 1500],
  ["GET /api/v1/nodes?timeout=1500ms", 400, 1100],
  ["GET /version?timeout=2s", 0, 2000],
  ["GET /api/v1/nodes?watch=1&timeout=1s", 0, undefined],
  ["POST /api/v1/nodes?timeout=1ns", 0, "rejected"],
  ["POST /api/v1/nodes?timeout=5s", 5000, "rejected"],
  ["POST /api/v1/nodes?timeout=x", 0, "rejected"],
];

function contextOf(
  request: string,
  receivedAt: number,
): { context: RequestContext; close: () => void; answer: () => void } {
  const [method = "", target = ""] = request.split(" ");
  const closing: (() => void)[] = [];
  const exchange = { answered: false, onClose: (run: () => void) => void closing.push(run) };
  const context = {
    exchange: exchange as Partial<Exchange>,
    info: requestInfo(method, target),
    receivedAt,
  } as RequestContext;
  return {
    context,
    close: () => closing.forEach((run) => void run()),
    answer() {
      exchange.answered = true;
    },
  };
}

for (const [request, waitedMs, want] of rows) {
  test(`${request}, ${waitedMs} ms later`, () => {
    const clock = manualClock();
    let expired: number | undefined;
    const begin = clock.now();
    const filter = timeoutParameterFilter({ clock, timeoutMs, expire: () => (expired = clock.now() - begin) });
    const { context } = contextOf(request, begin - waitedMs);
    if (want === "rejected") assert.throws(() => filter(context), ApiError);
    else {
      filter(context);
      clock.advance(86_400_000);
      assert.equal(expired, want);
    }
  });
}

test("does not expire requests that were answered or closed", () => {
  const clock = manualClock();
  const filter = timeoutParameterFilter({ clock, timeoutMs, expire: () => assert.fail("expired") });
  const [answered, gone] = [
    contextOf("GET /version?timeout=1s", clock.now()),
    contextOf("GET /version?timeout=1s", clock.now()),
  ];
  filter(answered.context);
  filter(gone.context);
  answered.answer();
  gone.close();
  clock.advance(2000);
});

test("limits writes to 34 s, whatever the limit of others and of writes that other servers serve", () => {
  const clock = manualClock();
  const expired: string[] = [];
  const open = openRequests({ clock, timeoutMs, expire: ({ info }) => void expired.push(info.verb) });
  for (const request of [
    "GET /api/v1/nodes",
    "POST /api/v1/nodes",
    "DELETE /api/v1/nodes/a",
    "GET /api/v1/nodes?watch=1",
  ]) {
    const { context } = contextOf(request, clock.now());
    context.resolved = {} as Resolved;
    open.filter(context);
  }
  open.filter(contextOf("PATCH /apis/other.example/v1/things/a", clock.now()).context);
  clock.advance(33_500);
  assert.deepEqual(expired, []);
  clock.advance(1000);
  assert.deepEqual(expired, ["create", "delete"]);
  open.close();
});

test("waits for open requests, but not for connections that have changed their protocol", async () => {
  const clock = manualClock();
  const open = openRequests({ clock, timeoutMs, expire: () => assert.fail("expired") });
  const upgraded = (request: string): void => {
    const { context } = contextOf(request, clock.now());
    Object.assign(context.exchange, { upgrade: { protocol: "spdy/3.1" } });
    open.filter(context);
  };
  upgraded("POST /api/v1/namespaces/a/pods/a/exec?command=sh");
  await open.idle(timeoutMs);
  const list = contextOf("GET /api/v1/nodes", clock.now());
  open.filter(list.context);
  let isIdle = false;
  const idle = open.idle(timeoutMs).then(() => {
    isIdle = true;
  });
  await Promise.resolve();
  assert.equal(isIdle, false);
  list.close();
  await idle;
  upgraded("GET /api/v1/nodes?watch=1");
  let isWatchIdle = false;
  const waited = open.idle(timeoutMs).then(() => {
    isWatchIdle = true;
  });
  await Promise.resolve();
  assert.equal(isWatchIdle, false);
  clock.advance(timeoutMs);
  await waited;
  open.close();
});
