/**
 * Only the files below read the time or start timers without `ServerOptions.clock`, so that a test can control the time
 * of a server. See docs/test-kit/virtual-time.md.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");

/** Why a file may use the real time directly. */
const reasons = {
  clock: "implements a clock",
  cpu: "limits or shares the time of the CPU",
  document: "dates a document that the server generates, for its header Last-Modified",
  duration: "measures a duration, for a metric or a log",
  peer: "limits the wait for a real peer or file",
} as const;

const allowed: Readonly<Record<string, keyof typeof reasons>> = {
  "src/admission/chain.ts": "duration",
  "src/admission/plugins/service-addresses/service-addresses.ts": "duration",
  "src/admission/trace.ts": "duration",
  "src/apimachinery/clock.ts": "clock",
  "src/apimachinery/run-script.ts": "cpu",
  "src/apis/apiextensions/conversion/webhook-converter.ts": "duration",
  "src/authentication/egress/http-connect.ts": "peer",
  "src/authentication/oidc/document-client.ts": "peer",
  "src/authentication/oidc/jwt-authenticators.ts": "duration",
  "src/cel-environment/time-limit.ts": "cpu",
  "src/http/endpoints/document-cache.ts": "document",
  "src/http/endpoints/openapi-surface.ts": "document",
  "src/http/filters/authorization.ts": "duration",
  "src/http/tracing/span-export.ts": "peer",
  "src/server/default-options.ts": "clock",
  "src/lib/grpc/socket-client.ts": "peer",
  "src/lib/bounded-file/bounded-file.ts": "peer",
  "src/lib/pauses.ts": "cpu",
  "src/server/server.ts": "duration",
  "src/server/admission-webhooks.ts": "duration",
  "src/server/flow-control.ts": "cpu",
  "src/server/http.ts": "duration",
  "src/server/loop-watch.ts": "cpu",
  "src/server/metrics.ts": "duration",
  "src/server/policies.ts": "duration",
  "src/server/tracing.ts": "duration",
  "src/storage/encryption/kms/first-version.ts": "duration",
  "src/storage/encryption/kms/provider.ts": "duration",
  "src/storage/encryption/prefixed-ciphers.ts": "duration",
  "src/storage/etcd/api/client.ts": "peer",
  "src/storage/etcd/api/endpoints.ts": "peer",
  "src/webhook/client.ts": "peer",
  "src/webhook/connect.ts": "peer",
  "src/webhook/connections.ts": "peer",
  "src/webhook/deadline.ts": "peer",
  "src/webhook/health-probe.ts": "peer",
  "src/webhook/retry.ts": "peer",
};

/** No server runs in commands, and in the processes of backups and copies. The test kit waits for real servers. */
const exempt = /^src\/(?:cli|storage\/copy|storage\/lmdb\/backup|testing)\//;

/** `setImmediate` is a turn of the event loop, not a time. */
const direct =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|(?<!\.)\bset(?:Timeout|Interval)\b|\bprocess\.hrtime\b|\bAbortSignal\.timeout\b|\bsystemClock\b/;

function usesDirectTime(source: string): boolean {
  const code = sourceTokens(source)
    .filter(({ type }) => type !== "comment" && type !== "string")
    .map(({ text }) => text)
    .join(" ");
  return direct.test(code.replaceAll(/\s*([.()])\s*/g, "$1"));
}

test("only the listed files use the real time directly", () => {
  const files = globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/\.(?:test|suite)\.ts$|\/testdata\//.test(file) && !exempt.test(file));
  const found = files.filter((file) => usesDirectTime(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(found.sort(), Object.keys(allowed).sort());
});

for (const [source, uses] of [
  ["const at = Date.now();", true],
  ["const at = new Date();", true],
  ["const at = new Date(clock.now());", false],
  ["setTimeout(run, 5);", true],
  ["setImmediate(run);", false],
  ["// Date.now()", false],
  ['import { setTimeout as sleep } from "node:timers/promises";', true],
  ["const { clock = systemClock } = options;", true],
] as const) {
  test(`${uses ? "finds" : "does not find"} direct time in ${source}`, () =>
    assert.equal(usesDirectTime(source), uses));
}
