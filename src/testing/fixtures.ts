/** Servers whose life the hooks of a test runner decide. */
import type { ServerFixture, Snapshot, TestRunner, TestServer } from "./contract.ts";
import { waitUntil } from "./eventually.ts";
import { expectOk } from "./expect-ok.ts";
import type { Installation } from "./install/contract.ts";
import { kitAgent } from "./kit-agent.ts";
import { testsBegin, testsEnd } from "./open-servers.ts";
import { reportRequests } from "./report-requests.ts";
import { runnerLimitMs } from "./runner-limit.ts";
import { testStarts } from "./running-tests.ts";
import { ensureServiceAccount, pathOf } from "./service-account-token.ts";
import { type TestNamespaces, testNamespaces } from "./test-namespaces.ts";
import { isObject, TestScopes } from "./test-scopes.ts";
import type { TimelineMark, TimelineRequest } from "./timeline/contract.ts";
import { formatEntries } from "./timeline/format.ts";
import type { TestWebhook } from "./webhooks/contract.ts";

/** For busy machines: the runners' own limits are 5 and 10 seconds. */
const startTimeoutMs = 60_000;

/** What a fixture does when it starts. */
export interface FixtureStart {
  /** Starts the server. */
  start(): Promise<TestServer>;
  /** Prepares it. */
  readonly setup: ((server: TestServer) => unknown) | undefined;
}

/** Registers the hooks. @throws TypeError when it is not a test runner */
export function fixtureOf(runner: TestRunner, start: FixtureStart): ServerFixture {
  checkRunner(runner);
  const life = serverLife(start, "beforeAll" in runner ? startTimeoutMs : undefined);
  const scopes = new TestScopes(() => life.server.faults.list());
  const tests = testsOf(() => life.server);
  const namespaces = testNamespaces(scopes, () => life.server);
  const forks = testForks(scopes, namespaces);
  if ("beforeAll" in runner) runner.beforeAll(life.begin, startTimeoutMs);
  else runner.before(life.begin);
  runner.beforeEach(
    hook(async (context) => {
      await life.started(); // node:test does not wait for hooks of a file that awaits before it registers them.
      scopes.enter(context);
      tests.begin(context);
    }),
  );
  runner.afterEach(
    hook((context) => {
      const since = tests.end(context);
      const failed = isObject(context) && hasFailed(context);
      if (failed) printTimeline(life.server, since);
      return scopes.leave(context, failed);
    }),
  );
  const end = (): Promise<void> => life.end(tests.openWatches);
  if ("afterAll" in runner) runner.afterAll(end);
  else runner.after(end);
  return {
    get server() {
      return life.server;
    },
    get prepared() {
      return life.prepared;
    },
    namespace: namespaces.create,
    fork: (test, from) => forks.add(life.server, test, from),
    ...testTools(scopes, () => life.server),
    withTimeline: (run) => () => runWithTimeline(run, life.server, forks.open),
  };
}

/** The tests that run, and the watches that they open by `fetch`. */
interface Tests {
  begin(context: unknown): void;
  /** @returns the mark of its begin; undefined if it has not begun */
  end(context: unknown): TimelineMark | undefined;
  /** Watches of tests that have ended which are still open, as lines of the timeline. */
  openWatches(): string[];
}

function testsOf(server: () => TestServer): Tests {
  /** The context is undefined with some runners. */
  const running: { readonly context: unknown; readonly since: TimelineMark; readonly end: () => void }[] = [];
  const left = new Set<number>();
  const watches = (): readonly TimelineRequest[] =>
    server()
      .timeline.openWatches()
      .filter(({ userAgent }) => userAgent === kitAgent);
  return {
    begin(context) {
      const { timeline } = server();
      const since = timeline.mark();
      const report = (): string => reportRequests(timeline, since);
      running.push({ context, since, end: testStarts({ context, limitMs: runnerLimitMs(context), report }) });
    },
    end(context) {
      const test = running.findLast((one) => one.context === context);
      if (test === undefined) return undefined;
      running.splice(running.indexOf(test), 1);
      test.end();
      for (const { sequence } of watches()) if (sequence >= test.since) left.add(sequence);
      return test.since;
    },
    openWatches: () =>
      watches()
        .filter(({ sequence }) => left.has(sequence))
        .map((watch) => formatEntries([watch]).trimEnd()),
  };
}

/** The server of a fixture, from its start to its end. */
interface ServerLife {
  /** @throws Error before it is started */
  readonly server: TestServer;
  /** @throws Error without `setup`, and before the server is started */
  readonly prepared: Snapshot;
  begin(): Promise<void>;
  started(): Promise<void>;
  /** @param openWatches those that tests have left open */
  end(openWatches: () => readonly string[]): Promise<void>;
}

/** @param limitMs of the start */
function serverLife({ start, setup }: FixtureStart, limitMs: number | undefined): ServerLife {
  let server: TestServer | undefined;
  let prepared: Snapshot | undefined;
  let starting: Promise<void> | undefined;
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the server is not started yet: use it in tests and hooks");
    return value;
  };
  const open = async (): Promise<void> => {
    const opened = await start();
    const end = testStarts({ context: undefined, limitMs, report: () => reportRequests(opened.timeline) });
    try {
      await setup?.(opened);
      if (setup !== undefined) prepared = await opened.snapshot();
    } catch (error) {
      await opened.close();
      throw error;
    } finally {
      end();
    }
    server = opened;
  };
  return {
    get server() {
      return started(server);
    },
    get prepared() {
      if (setup === undefined) throw new Error("useTestServer has no option setup, so there is no prepared state");
      return started(prepared);
    },
    begin() {
      testsBegin();
      starting = open();
      return starting;
    },
    started: async () => starting,
    async end(openWatches) {
      const watches = server === undefined ? [] : await leftOpen(openWatches);
      await server?.close();
      testsEnd(watches);
    },
  };
}

const closingMs = 200;

/** The server sees the end of a watch that its client has just ended a moment later. */
async function leftOpen(watches: () => readonly string[]): Promise<readonly string[]> {
  if (watches().length > 0) await waitUntil(() => watches().length === 0, closingMs).catch(() => {}); // They are reported.
  return watches();
}

/** @throws TypeError */
function checkRunner(runner: unknown): void {
  const has = (name: string): boolean => isObject(runner) && typeof Reflect.get(runner, name) === "function";
  const all = has("beforeAll") ? ["beforeAll", "afterAll"] : ["before", "after"];
  const missing = [...all, "beforeEach", "afterEach"].filter((name) => !has(name));
  if (missing.length > 0)
    throw new TypeError(
      `useTestServer needs the module of the test runner, such as: import * as runner from "node:test". What it got has no ${missing.join(", ")}`,
    );
}

type TestTools = Pick<ServerFixture, "webhook" | "install" | "as">;

/** What a test adds to the server, until its end. */
function testTools(scopes: TestScopes, server: () => TestServer): TestTools {
  return {
    async webhook(spec, handler, test) {
      let added: TestWebhook | undefined;
      scopes.cleanUpAfter(test, async () => added?.remove());
      added = await server().webhook(spec, handler);
      return added;
    },
    async install(source, options, test) {
      let installed: Installation | undefined;
      scopes.cleanUpAfter(test, async () => installed?.remove());
      installed = await server().install(source, options);
      return installed;
    },
    async as(who, test) {
      if (!("serviceAccount" in who)) return server().as(who);
      let isNew = false;
      const { fetch } = server();
      scopes.cleanUpAfter(test, async () => {
        if (isNew) await expectOk(fetch(pathOf(who), { method: "DELETE" }), 404);
      });
      isNew = await ensureServiceAccount(who, fetch);
      return server().as(who);
    },
  };
}

async function runWithTimeline(run: () => unknown, server: TestServer, forks: ReadonlySet<TestServer>): Promise<void> {
  const since = server.timeline.mark();
  try {
    await run();
  } catch (error) {
    printTimeline(server, since);
    for (const fork of forks) printTimeline(fork, undefined);
    throw error;
  }
}

interface TestForks {
  readonly open: ReadonlySet<TestServer>;
  /** Forks a server, and closes the fork after a test. */
  add(server: TestServer, test: object | undefined, from: Snapshot | undefined): Promise<TestServer>;
}

function testForks(scopes: TestScopes, namespaces: TestNamespaces): TestForks {
  const open = new Set<TestServer>();
  return {
    open,
    async add(server, test, from) {
      let opening: Promise<TestServer> | undefined;
      scopes.cleanUpAfter(test, async (hasFailed) => {
        const fork = await opening?.catch(() => undefined); // The test has got the error.
        if (fork === undefined) return;
        open.delete(fork);
        if (hasFailed) printTimeline(fork, undefined);
        await fork.close();
      });
      if (from === undefined) await namespaces.gone();
      opening = server.fork(from);
      open.add(await opening);
      return opening;
    },
  };
}

/**
 * A hook with no parameters that gets the context all the same: Jest and Bun pass a callback to hooks that have a parameter,
 * and Vitest reads the names of parameters.
 */
function hook(run: (context: unknown) => void | Promise<void>): () => Promise<void> {
  return async function () {
    // biome-ignore lint/complexity/noArguments: see above.
    await run(arguments[0]);
  };
}

/** The contexts of node:test have `passed`, those of Vitest have the task with its result. */
interface FailedContext {
  readonly passed?: unknown;
  readonly task?: { readonly result?: { readonly state?: unknown } };
}

function hasFailed(context: object): boolean {
  const { passed, task } = context as FailedContext;
  return passed === false || task?.result?.state === "fail";
}

/** Lines that a failed test prints at most; the newest are the most useful. */
const printedLinesMax = 300;

function printTimeline({ timeline }: TestServer, since: TimelineMark | undefined): void {
  const lines = timeline
    .format(since === undefined ? {} : { since })
    .trimEnd()
    .split("\n");
  const omitted = lines.length > printedLinesMax ? [`… ${lines.length - printedLinesMax} earlier lines`] : [];
  console.error(["Timeline of the failed test:", ...omitted, ...lines.slice(-printedLinesMax)].join("\n"));
}
