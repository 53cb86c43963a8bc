/** Servers whose life the hooks of a test runner decide. */
import type { ServerFixture, TestRunner, TestServer } from "./contract.ts";
import { isObject, TestScopes } from "./test-scopes.ts";
import type { TimelineMark } from "./timeline/contract.ts";

/** For busy machines: the runners' own limits are 5 and 10 seconds. */
const startTimeoutMs = 60_000;

/** Registers the hooks. @param start starts the server, and prepares it */
export function fixtureOf(runner: TestRunner, start: () => Promise<TestServer>): ServerFixture {
  const scopes = new TestScopes(() => fixture.server.faults.list());
  let server: TestServer | undefined;
  let starting: Promise<void> | undefined;
  let namespaces = 0;
  const marks = new WeakMap<object, TimelineMark>();
  const forks = testForks(scopes);
  const begin = (): Promise<void> => {
    starting = start().then((started) => {
      server = started;
    });
    return starting;
  };
  if ("beforeAll" in runner) runner.beforeAll(begin, startTimeoutMs);
  else runner.before(begin);
  runner.beforeEach(
    hook(async (context) => {
      await starting; // node:test does not wait for hooks of a file that awaits before it registers them.
      scopes.enter(context);
      if (isObject(context)) marks.set(context, fixture.server.timeline.mark());
    }),
  );
  runner.afterEach(
    hook((context) => {
      const failed = isObject(context) && hasFailed(context);
      if (failed) printTimeline(fixture.server, marks.get(context));
      return scopes.leave(context, failed);
    }),
  );
  const end = async (): Promise<void> => server?.close();
  if ("afterAll" in runner) runner.afterAll(end);
  else runner.after(end);
  const fixture: ServerFixture = {
    get server() {
      if (server === undefined) throw new Error("the server is not started yet: use it in tests and hooks");
      return server;
    },
    async namespace(test) {
      const name = `test-${++namespaces}`;
      const { fetch } = fixture.server;
      // The test may have deleted it.
      scopes.cleanUpAfter(test, () => expectOk(fetch(`/api/v1/namespaces/${name}`, { method: "DELETE" }), 404));
      await expectOk(fetch("/api/v1/namespaces", { method: "POST", body: { metadata: { name } } }));
      return name;
    },
    fork: (test) => forks.add(fixture.server, test),
    withTimeline: (run) => async () => {
      const since = fixture.server.timeline.mark();
      try {
        await run();
      } catch (error) {
        printTimeline(fixture.server, since);
        for (const fork of forks.open) printTimeline(fork, undefined);
        throw error;
      }
    },
  };
  return fixture;
}

interface TestForks {
  readonly open: ReadonlySet<TestServer>;
  /** Forks a server, and closes the fork after a test. */
  add(server: TestServer, test: object | undefined): Promise<TestServer>;
}

function testForks(scopes: TestScopes): TestForks {
  const open = new Set<TestServer>();
  return {
    open,
    async add(server, test) {
      let opening: Promise<TestServer> | undefined;
      scopes.cleanUpAfter(test, async (hasFailed) => {
        const fork = await opening;
        if (fork === undefined) return;
        open.delete(fork);
        if (hasFailed) printTimeline(fork, undefined);
        await fork.close();
      });
      opening = server.fork();
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

/**
 * @param accepted a status that is no error
 * @throws Error with the server's message
 */
async function expectOk(answer: ReturnType<TestServer["fetch"]>, accepted?: number): Promise<void> {
  const response = await answer;
  const { message } = await response.json();
  if (!response.ok && response.status !== accepted) throw new Error(message);
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
