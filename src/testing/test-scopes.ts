/** The tests that run now, and what ends with each of them. */
import type { FaultHandle } from "./faults/contract.ts";

/** What is done after a test, and whether that is known to have failed. */
type CleanUp = (hasFailed: boolean) => Promise<unknown>;

/** A test that runs now, and what is done after it. */
interface Scope {
  /** The full name of the test; undefined when the runner does not say it. */
  readonly name: string | undefined;
  readonly cleanUps: CleanUp[];
  /** The rules of faults that existed when the test began. */
  readonly rulesBefore: ReadonlySet<FaultHandle>;
  /** Tests in the scope: more than one when the runner does not say which test a hook is for. */
  tests: number;
}

/** The tests that run now. */
export class TestScopes {
  readonly #scopes = new Map<unknown, Scope>();
  readonly #rules: () => readonly FaultHandle[];

  /** @param rules the rules of faults that exist now */
  constructor(rules: () => readonly FaultHandle[]) {
    this.#rules = rules;
  }

  /** @param context of the test; undefined when the runner passes none to hooks */
  enter(context: unknown): void {
    const scope = this.#scopes.get(context);
    if (scope !== undefined) scope.tests++;
    else {
      const rulesBefore = new Set(this.#rules());
      this.#scopes.set(context, { name: fullNameOf(context), cleanUps: [], rulesBefore, tests: 1 });
    }
  }

  /**
   * Removes the rules that the test has added, so that they do not affect what follows, and cleans up, the newest first.
   * @throws the first error, when all is done
   * @throws Error when a rule of a test that has passed never applied
   */
  async leave(context: unknown, hasFailed: boolean): Promise<void> {
    const scope = this.#scopes.get(context);
    if (scope === undefined || --scope.tests > 0) return;
    this.#scopes.delete(context);
    const unused = this.#removeRulesOf(scope).filter(({ hits, rule }) => hits === 0 && rule.optional !== true);
    const errors: unknown[] = [];
    for (const cleanUp of scope.cleanUps.reverse())
      await cleanUp(hasFailed).catch((error: unknown) => void errors.push(error));
    if (errors.length > 0) throw errors[0];
    if (unused.length > 0 && !hasFailed) throw new Error(unusedRules(unused));
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

  /** A rule that another running test can have added, too, stays until that ends. A subtest is its likelier origin. */
  #removeRulesOf(scope: Scope): FaultHandle[] {
    const others = [...this.#scopes.values()].filter((other) => !isWithin(scope, other));
    const own = this.#rules().filter((rule) =>
      [scope, ...others].every((one) => one.rulesBefore.has(rule) === (one !== scope)),
    );
    for (const rule of own) rule.remove();
    return own;
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

function unusedRules(rules: readonly FaultHandle[]): string {
  const lines = rules.map(({ id, rule, fault }) => `  ${id}: ${JSON.stringify(fault)} for ${JSON.stringify(rule)}`);
  return `These rules of faults never applied; if that is right, set optional: true in the rule:\n${lines.join("\n")}`;
}

/** The contexts of Vitest are functions. */
export function isObject(value: unknown): value is object {
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
    return tests === 1 && (outer === undefined || isWithin({ name }, outer));
  });
  return isNested ? running.at(-1) : undefined;
}

/** Whether a test is a subtest of another. */
function isWithin({ name }: Pick<Scope, "name">, outer: Pick<Scope, "name">): boolean {
  return outer.name !== undefined && name?.startsWith(`${outer.name} > `) === true;
}
