/** Servers whose life the hooks of a test runner decide. */
import type { ServerFixture, TestRunner, TestServer } from "./contract.ts";
import type { TimelineMark } from "./timeline/contract.ts";

/** What is done after a test, and whether that is known to have failed. */
type CleanUp = (hasFailed: boolean) => Promise<unknown>;

/** A test that runs now, and what is done after it. */
interface Scope {
  /** The full name of the test; undefined when the runner does not say it. */
  readonly name: string | undefined;
  readonly cleanUps: CleanUp[];
  /** Tests in the scope: more than one when the runner does not say which test a hook is for. */
  tests: number;
}

/** The tests that run now. */
export class TestScopes {
  readonly #scopes = new Map<unknown, Scope>();

  /** @param context of the test; undefined when the runner passes none to hooks */
  enter(context: unknown): void {
    const scope = this.#scopes.get(context);
    if (scope !== undefined) scope.tests++;
    else this.#scopes.set(context, { name: fullNameOf(context), cleanUps: [], tests: 1 });
  }

  /** Cleans up, the newest first. @throws the first error, when all is done */
  async leave(context: unknown, hasFailed: boolean): Promise<void> {
    const scope = this.#scopes.get(context);
    if (scope === undefined || --scope.tests > 0) return;
    this.#scopes.delete(context);
    const done = await Promise.allSettled(scope.cleanUps.reverse().map((cleanUp) => cleanUp(hasFailed)));
    const failed = done.find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  }

  /**
   * Runs `cleanUp` after a test.
   *
   * @param context of the test; undefined for the only one that runs, or the innermost of nested ones
   * @throws Error when the test does not run, or it is not clear which one is meant
   */
  cleanUpAfter(context: object | undefined, cleanUp: CleanUp): void {
    this.#scopeOf(context).cleanUps.push(cleanUp);
  }

  #scopeOf(context: object | undefined): Scope {
    const running = [...this.#scopes.values()];
    const scope = context === undefined ? innermost(running) : this.#scopes.get(context);
    if (scope !== undefined) return scope;
    if (context !== undefined) throw new Error("this is not the context of a test that runs now");
    if (running.length === 0) throw new Error("no test runs now: call it in a test or in a beforeEach hook");
    throw new Error("several tests run now: pass the context of the test, so that it is clear which one is meant");
  }
}

/** The contexts of Vitest are functions. */
function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function fullNameOf(context: unknown): string | undefined {
  const name = isObject(context) && "fullName" in context ? context.fullName : undefined;
  return typeof name === "string" ? name : undefined;
}

/** @returns undefined when they are not one test and its subtests */
function innermost(running: readonly Scope[]): Scope | undefined {
  const isNested = running.every(({ name, tests }, at) => {
    const outer = running[at - 1];
    return tests === 1 && (outer === undefined || name?.startsWith(`${outer.name} > `) === true);
  });
  return isNested ? running.at(-1) : undefined;
}

/** For busy machines: the runners' own limits are 5 and 10 seconds. */
const startTimeoutMs = 60_000;

/** Registers the hooks. @param start starts the server, and prepares it */
export function fixtureOf(runner: TestRunner, start: () => Promise<TestServer>): ServerFixture {
  const scopes = new TestScopes();
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
      scopes.cleanUpAfter(test, () => expectOk(fetch(`/api/v1/namespaces/${name}`, { method: "DELETE" })));
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

/** @throws Error with the server's message */
async function expectOk(answer: ReturnType<TestServer["fetch"]>): Promise<void> {
  const response = await answer;
  const { message } = await response.json();
  if (!response.ok) throw new Error(message);
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
