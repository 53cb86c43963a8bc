/** Servers whose life the hooks of a test runner decide. */
import type { ServerFixture, TestRunner, TestServer } from "./contract.ts";

/** A test that runs now, and what is done after it. */
interface Scope {
  /** The full name of the test; undefined when the runner does not say it. */
  readonly name: string | undefined;
  readonly cleanUps: (() => Promise<unknown>)[];
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
  async leave(context: unknown): Promise<void> {
    const scope = this.#scopes.get(context);
    if (scope === undefined || --scope.tests > 0) return;
    this.#scopes.delete(context);
    const done = await Promise.allSettled(scope.cleanUps.reverse().map((cleanUp) => cleanUp()));
    const failed = done.find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  }

  /**
   * Runs `cleanUp` after a test.
   *
   * @param context of the test; undefined for the only one that runs, or the innermost of nested ones
   * @throws Error when the test does not run, or it is not clear which one is meant
   */
  cleanUpAfter(context: object | undefined, cleanUp: () => Promise<unknown>): void {
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

function fullNameOf(context: unknown): string | undefined {
  const name = typeof context === "object" && context !== null && "fullName" in context ? context.fullName : undefined;
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

/** Registers the hooks. @param start starts the server */
export function fixtureOf(runner: TestRunner, start: () => Promise<TestServer>): ServerFixture {
  const scopes = new TestScopes();
  let server: TestServer | undefined;
  let namespaces = 0;
  const all = "beforeAll" in runner ? runner : { beforeAll: runner.before, afterAll: runner.after };
  all.beforeAll(async () => {
    server = await start();
  });
  runner.beforeEach(hook((context) => scopes.enter(context)));
  runner.afterEach(hook((context) => scopes.leave(context)));
  all.afterAll(async () => server?.close());
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
  };
  return fixture;
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
