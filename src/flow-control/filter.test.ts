/** The filters with requests whose endpoint and connection end when the test says so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { until } from "../../test/support/until.ts";
import { type FlowControl, openFlowControl } from "../controllers/flow-control/flow-control.ts";
import { goawayFilter } from "../http/filters/goaway.ts";
import { json } from "../http/representation/json.ts";
import { createServe } from "../http/serve.ts";
import { EventLoopTurns } from "../lib/fair-queuing/event-loop-turns.ts";
import { flowControlMetrics } from "../metrics/flow-control-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { RequestState } from "../request/context.ts";
import { requestInfo } from "../request/request-info.ts";
import type { FlowControlObserver } from "./contract.ts";
import { maxInFlightFilter } from "./max-in-flight.ts";

interface TestRequest {
  readonly context: RequestState;
  /** The response: a status; 0 before it. */
  readonly answer: { status: number; headers: Readonly<Record<string, string | string[]>> };
  /** The client disconnects, or the response is complete. */
  close(): void;
}

interface RequestOptions {
  readonly line?: string;
  readonly user?: string;
  readonly groups?: readonly string[];
}

function newRequest({ line = "GET /api/v1/pods", user = "alice", groups = ["system:authenticated"] }: RequestOptions) {
  const [method = "", target = ""] = line.split(" ");
  const closing: (() => void)[] = [];
  const answer: TestRequest["answer"] = { status: 0, headers: {} };
  const exchange = {
    method,
    target,
    protocol: "HTTP/2.0",
    onClose: (run: () => void) => closing.push(run),
    onFailure() {},
    respond(status: number, headers: TestRequest["answer"]["headers"]) {
      Object.assign(answer, { status, headers });
    },
  };
  const info = requestInfo(method, target);
  const context = {
    exchange,
    info,
    user: { name: user, groups },
    headers: {},
    receivedAt: 1_000_000,
    endsAt: 1_060_000,
  };
  const request: TestRequest = {
    context: context as unknown as RequestState,
    answer,
    close() {
      for (const run of closing) run();
    },
  };
  return request;
}

const observerOf = (): FlowControlObserver => flowControlMetrics(() => 0).observer;

async function withFlowControl(run: (control: FlowControl, advance: (ms: number) => void) => Promise<void>) {
  const clock = manualClock();
  const { registry, close } = await openMemoryRegistry({ clock });
  const control = openFlowControl({
    registry,
    clock,
    fairClock: clock,
    turns: new EventLoopTurns({ now: clock.now, nextTurn: setImmediate }),
    logger: { info() {}, warn: assert.fail, error: assert.fail },
    observer: observerOf(),
    serverSeats: 1,
    requestTimeoutMs: 60_000,
    rejected() {},
  });
  await run(control, clock.advance);
  await close();
}

const executing = (control: FlowControl): number =>
  control.configuration
    .current()
    .all()
    .reduce((total, { queues }) => total + queues.counts.executing, 0);

test("a request occupies its seat until its endpoint has returned and its response was sent", () =>
  withFlowControl(async (control) => {
    for (const order of ["returned first", "closed first"]) {
      const request = newRequest({});
      assert.equal(control.filter(request.context), undefined);
      const ends = [() => request.context.execution?.returned(), () => request.close()];
      if (order === "closed first") ends.reverse();
      ends[0]?.();
      assert.equal(executing(control), 1, order);
      assert.throws(() => control.filter(newRequest({}).context), /Too many requests/, order);
      ends[1]?.();
      assert.equal(executing(control), 0, order);
    }
  }));

test("TestTotalRequestsExecutingWithPanic: a request whose endpoint throws frees its seat", () =>
  withFlowControl(async (control) => {
    const { context, close, answer } = newRequest({ line: "GET /panics" });
    const during: number[] = [];
    const throwing = (): never => {
      during.push(executing(control));
      throw new Error("apiserver panic'd");
    };
    const errors: string[] = [];
    const serve = createServe({
      filters: [(own) => void Object.assign(own, { user: context.user }), control.filter],
      routes: [{ path: "/panics", handler: throwing }],
      encodings: [json],
      clock: manualClock(),
      logger: { info() {}, warn() {}, error: (message) => void errors.push(message) },
      registry: {} as RegistryContext, // Not used: the path names no resource.
      endpoints: { verbs: {}, computed: {}, subresources: {} },
    });
    serve({ ...context.exchange, header: () => undefined });
    await until(() => answer.status !== 0);
    close();
    await new Promise(setImmediate);
    assert.deepEqual([during, executing(control), answer.status, errors], [[1], 0, 500, ["Request failed"]]);
  }));

test("a watch occupies its seat until its first objects were sent", () =>
  withFlowControl(async (control) => {
    const watch = newRequest({ line: "GET /api/v1/pods?watch=1" });
    void control.filter(watch.context);
    watch.context.execution?.returned();
    assert.equal(executing(control), 1);
    watch.context.execution?.watchStarted();
    assert.equal(executing(control), 0);
    watch.close();
    const closed = newRequest({ line: "GET /api/v1/pods?watch=1" });
    void control.filter(closed.context);
    closed.close();
    assert.equal(executing(control), 0);
    const list = newRequest({});
    void control.filter(list.context);
    list.context.execution?.watchStarted();
    assert.equal(executing(control), 1, "another server answers a list");
  }));

test("a list that is written in turns lends its seat to requests of one seat", () =>
  withFlowControl(async (control) => {
    const list = newRequest({ line: "GET /api/v1/pods" });
    void control.filter(list.context);
    assert.throws(() => control.filter(newRequest({}).context), /Too many requests/);
    assert.equal(
      list.context.turn?.(() => 128 << 10),
      undefined,
    );
    assert.equal(control.filter(newRequest({}).context), undefined);
    assert.throws(() => control.filter(newRequest({}).context), /Too many requests/);
  }));

test("requests that arrive together start in several turns, except for exempt ones", () =>
  withFlowControl(async (control) => {
    const started: string[] = [];
    const send = (user: string, groups: readonly string[] = []): void => {
      const request = newRequest({ user, groups });
      const end = (): void => {
        started.push(user);
        request.context.execution?.returned();
        request.close();
      };
      const pending = control.filter(request.context);
      if (pending === undefined) end();
      else void pending.then(end);
    };
    for (let count = 0; count < 16; count++) send("flood");
    send("late");
    send("admin", ["system:masters"]);
    assert.deepEqual([started.length, started.at(-1)], [17, "admin"]);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    assert.equal(started.at(-1), "late");
  }));

test("connections and profiles occupy no seats", () =>
  withFlowControl(async (control) => {
    for (const path of ["/api/v1/namespaces/n/pods/p/exec", "/api/v1/namespaces/n/pods/p/log", "/debug/pprof/heap"]) {
      const request = newRequest({ line: `GET ${path}` });
      void control.filter(request.context);
      assert.equal(request.context.execution, undefined, path);
      assert.deepEqual(request.context.headers, {}, path);
    }
  }));

test("the time to retry grows while requests are rejected", () =>
  withFlowControl(async (control, advance) => {
    void control.filter(newRequest({}).context);
    const retryAfter = (): unknown => {
      const request = newRequest({});
      assert.throws(() => control.filter(request.context), /Too many requests/);
      assert.equal(request.answer.status, 429);
      return request.answer.headers["retry-after"];
    };
    assert.deepEqual([retryAfter(), retryAfter(), retryAfter()], ["1", "1", "1"]);
    advance(1_000);
    assert.equal(retryAfter(), "2");
  }));

test("plain limits count reads and writes separately, and let administrators pass", () => {
  const rejected: RequestState[] = [];
  const filter = maxInFlightFilter({
    limits: { readOnly: 1, mutating: 2 },
    observer: observerOf(),
    rejected: (context) => void rejected.push(context),
  });
  const passes = (options: RequestOptions): TestRequest => {
    const request = newRequest(options);
    assert.equal(filter(request.context), undefined);
    return request;
  };
  const read = passes({});
  const full = newRequest({});
  assert.throws(() => filter(full.context), /Too many requests/);
  assert.deepEqual([full.answer.status, full.answer.headers["retry-after"], rejected.length], [429, "1", 1]);
  passes({ line: "POST /api/v1/namespaces" });
  passes({ line: "DELETE /api/v1/namespaces/x" });
  assert.throws(() => filter(newRequest({ line: "PUT /api/v1/namespaces/x" }).context), /Too many requests/);
  passes({ line: "GET /api/v1/pods?watch=1" });
  passes({ groups: ["system:masters"] });
  read.context.execution?.returned();
  assert.throws(() => filter(newRequest({}).context), /Too many requests/);
  read.close();
  passes({});
});

test("a limit of 0 does not limit requests of its kind", () => {
  const filter = maxInFlightFilter({
    limits: { readOnly: 0, mutating: 1 },
    observer: observerOf(),
    rejected: () => {},
  });
  for (let request = 0; request < 10; request++) assert.equal(filter(newRequest({}).context), undefined);
});

test("GOAWAY is sent for the chosen requests over HTTP/2 only", () => {
  let ended = 0;
  const values = [0.01, 0.02, 0.5];
  const filter = goawayFilter(0.02, () => values.shift() ?? 1);
  const request = (protocol: string): RequestState =>
    ({ exchange: { protocol, endConnection: () => ended++ } }) as unknown as RequestState;
  void filter(request("HTTP/1.1"));
  assert.equal(ended, 0);
  for (const expected of [1, 1, 1]) {
    void filter(request("HTTP/2.0"));
    assert.equal(ended, expected);
  }
});
