/**
 * A function returns a value or a promise. Only the files below have functions, or types of functions, that may return
 * either, or branch on whether they got a promise. See docs/architecture.md, "Waiting".
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");

/**
 * Why a file may have such functions. An async function that is awaited costs 0.10 µs of CPU more than one that is
 * called, a get 130 µs, the creation of a ConfigMap 360 µs.
 */
const reasons = {
  audited: "a response waits for its event only in a blocking mode: else 4 calls, 0.4 µs of each audited request",
  awaited: "runs a function of its caller or of a user, and awaits what it returns; nothing depends on which it is",
  converted: "only a conversion webhook waits: else 1 ms of each event that 10,000 watches get",
  expression: "an expression is evaluated again for each answer that it has to wait for: 5 µs or more each",
  passed: "hands on what a callback returns, of which it knows nothing",
  plugins: "each write calls some 70 methods of plugins, most of which ignore it: 7 µs of 360",
  reads: "each request passes it: some 25 functions of filters, authenticators and authorizers, 2.5 µs of 130",
  turns: "undefined: the piece of work has been done, or may be done, in this turn of the event loop",
} as const;

const allowed: Readonly<Record<string, keyof typeof reasons>> = {
  "src/admission/contract.ts": "plugins",
  "src/admission/expressions/authorization-checks.ts": "expression",
  "src/apimachinery/field-errors.ts": "awaited",
  "src/apimachinery/guarded-clock.ts": "passed",
  "src/audit/audited-exchange.ts": "audited",
  "src/audit/backend-sink.ts": "audited",
  "src/audit/contract.ts": "audited",
  "src/audit/filter.ts": "audited",
  "src/audit/request-record.ts": "audited",
  "src/authentication/bearer-token.ts": "reads",
  "src/authentication/contract.ts": "reads",
  "src/authentication/oidc/issuer-verifier.ts": "reads",
  "src/authentication/oidc/key-set.ts": "reads",
  "src/authentication/token-audiences.ts": "reads",
  "src/authentication/token-cache.ts": "reads",
  "src/authentication/token-union.ts": "reads",
  "src/authentication/union.ts": "reads",
  "src/authorization/contract.ts": "reads",
  "src/authorization/union.ts": "reads",
  "src/authorization/webhook/open-webhook.ts": "reads",
  "src/catalog/strategy-contract.ts": "awaited",
  "src/catalog/contract.ts": "converted",
  "src/catalog/converted-version.ts": "converted",
  "src/flow-control/filter.ts": "reads",
  "src/http/contract.ts": "reads",
  "src/http/custom-paths.ts": "reads",
  "src/http/endpoints/converted-events.ts": "converted",
  "src/http/endpoints/health.ts": "awaited",
  "src/http/endpoints/watch-stream.ts": "converted",
  "src/http/filters/authentication.ts": "reads",
  "src/http/filters/authorization.ts": "reads",
  "src/http/listener/body-stream.ts": "turns",
  "src/http/listener/write-slots.ts": "turns",
  "src/http/representation/contract.ts": "reads",
  "src/http/representation/object.ts": "reads",
  "src/http/serve.ts": "reads",
  "src/lib/fair-queuing/event-loop-turns.ts": "turns",
  "src/lib/fair-queuing/fair-turns.ts": "turns",
  "src/metrics/authentication-metrics.ts": "reads",
  "src/registry/admission-attributes.ts": "awaited",
  "src/registry/contract.ts": "awaited",
  "src/registry/list.ts": "converted",
  "src/registry/scan.ts": "turns",
  "src/registry/update.ts": "awaited",
  "src/request/context.ts": "reads",
  "src/request/exchange.ts": "turns",
  "src/server/closers.ts": "awaited",
  "src/storage/options.ts": "awaited",
  "src/testing/control/contract.ts": "awaited",
  "src/testing/eventually.ts": "awaited",
  "src/testing/fixtures.ts": "awaited",
  "src/testing/snapshots/restore-gate.ts": "turns",
  "src/testing/virtual-clock.ts": "passed",
  "src/testing/webhooks/contract.ts": "awaited",
  "src/webhook/contract.ts": "awaited",
  "src/webhook/open-socket.ts": "awaited",
  "src/webhook/service-resolver.ts": "awaited",
};

/**
 * Whether a source has a type such as `T | Promise<T>`, a function that returns `Promise<T> | undefined`, or an
 * `instanceof Promise`. A variable or a member that holds a promise or nothing is something else.
 */
function mayReturnEither(source: string): boolean {
  const texts = sourceTokens(source)
    .filter(({ type }) => type !== "comment" && type !== "string")
    .map(({ text }) => text);
  return texts.some((text, at) => {
    if (text !== "Promise") return false;
    const before = texts.slice(Math.max(0, at - 2), at).join("");
    if (before.endsWith("instanceof")) return true;
    if (texts[at + 1] !== "<") return false;
    if (before.endsWith("|")) return true;
    return (before === "):" || before === "=>") && texts[behindArguments(texts, at + 1)] === "|";
  });
}

/** @param at where `<` is */
function behindArguments(texts: readonly string[], at: number): number {
  let depth = 0;
  for (let next = at; next < texts.length; next++) {
    if (texts[next] === "<") depth++;
    else if (texts[next] === ">" && texts[next - 1] !== "=" && --depth === 0) return next + 1;
  }
  return texts.length;
}

test("only the listed files have functions that return a value or a promise", () => {
  const files = globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/\.(?:test|suite)\.ts$|\/testdata\//.test(file));
  const found = files.filter((file) => mayReturnEither(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(found.sort(), Object.keys(allowed).sort());
});

/** Functions that exist a second time, and why. */
const secondForms: Readonly<Record<string, string>> = {
  writeFileAtomicallySync: "while a process exits, nothing can be awaited",
};

test("no function exists a second time, as a synchronous or an asynchronous form", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
  const declared = sources.flatMap((source) => [...source.matchAll(/\bfunction (\w+(?:Sync|Async))\b/g)]);
  assert.deepEqual(
    declared.map(([, name]) => name),
    Object.keys(secondForms),
  );
});

for (const [source, expected] of [
  ["function f(): T | Promise<T> {}", true],
  ["function f(): Promise<T> | undefined {}", true],
  ["type F = () => Promise<Map<A, () => B>> | undefined;", true],
  ["type F = (a: A) => void | Promise<void>;", true],
  ["if (found instanceof Promise) return;", true],
  ["function f(): Promise<T | undefined> {}", false],
  ["let loading: Promise<T> | undefined;", false],
  ["const f = async (): Promise<T> => a | b;", false],
  ["// returns T | Promise<T>", false],
] as const) {
  test(`${expected ? "finds" : "does not find"} a value or a promise in ${source}`, () =>
    assert.equal(mayReturnEither(source), expected));
}
