import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultOptions } from "../index.ts";
import { startKey } from "./start-states.ts";
import { virtualClock } from "./virtual-clock.ts";

test("the order of options does not matter, their values do", () => {
  assert.equal(
    startKey({ eventTtlSeconds: 1, featureGates: "A=true" }),
    startKey({ featureGates: "A=true", eventTtlSeconds: 1 }),
  );
  const keys = [{}, { eventTtlSeconds: 1 }, { eventTtlSeconds: 2 }, { controllers: [] }].map(startKey);
  assert.equal(new Set(keys).size, 4);
});

const rows: [title: string, options: Parameters<typeof startKey>[0]][] = [
  ["a clock", { clock: virtualClock() }],
  ["a logger", { logger: console }],
  ["audit", { audit: defaultOptions.audit }],
  ["a certificate", { tlsCertFile: "a.crt", tlsPrivateKeyFile: "a.key" }],
  ["tokens", { tokenAuthFile: "tokens.csv" }],
  ["a signing key", { serviceAccountSigningKeyFile: "sa.key" }],
  ["an admission configuration", { admission: { enable: [], disable: [], configFile: "admission.yaml" } }],
  ["a function", { serviceResolver: { resolve: async () => ({ host: "127.0.0.1", port: 1 }) } as never }],
];

for (const [title, options] of rows)
  test(`a server with ${title} starts in full`, () => assert.equal(startKey(options), undefined));
