import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuthorizationOptions } from "../authorization/contract.ts";
import { authorizationFlags } from "./authorization-flags.ts";
import { FlagError, parseFlags } from "./flags.ts";

const rows: [argv: string[], want: AuthorizationOptions][] = [
  [[], { configFile: undefined, webhook: {} }],
  [["--authorization-config=/a"], { configFile: "/a", webhook: {} }],
  [["--authorization-config="], { configFile: undefined, webhook: {} }],
  [
    ["--authorization-webhook-config-file=/a", "--authorization-webhook-version=v1"],
    { configFile: undefined, webhook: { configFile: "/a", version: "v1" } },
  ],
  [
    ["--authorization-webhook-cache-authorized-ttl=1m", "--authorization-webhook-cache-unauthorized-ttl=0"],
    { configFile: undefined, webhook: { authorizedTtlMs: 60_000, unauthorizedTtlMs: 0 } },
  ],
];
for (const [argv, want] of rows) {
  test(`flags: ${argv.join(" ")}`, () => {
    const line = parseFlags(argv);
    assert.deepEqual(line.run === "server" && line.settings.server.authorization, want);
  });
}

test("rejects an invalid TTL", () => {
  assert.throws(() => parseFlags(["--authorization-webhook-cache-authorized-ttl=x"]), FlagError);
});

test("has exactly upstream's authorization flags", () => {
  const names = authorizationFlags.map(({ term }) => /^--authorization-([\w-]+)/.exec(term)?.[1]);
  const webhook = [
    "webhook-cache-authorized-ttl",
    "webhook-cache-unauthorized-ttl",
    "webhook-config-file",
    "webhook-version",
  ];
  assert.deepEqual(names.sort(), ["config", "mode", "policy-file", ...webhook]);
});
