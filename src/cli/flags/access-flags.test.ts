import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionOptions } from "../../admission/contract.ts";
import type { AuthorizationOptions } from "../../authorization/contract.ts";
import { FlagError } from "./contract.ts";
import { parseFlags } from "./parse-flags.ts";

const admissionRows: [argv: string[], want: AdmissionOptions][] = [
  [[], { enable: [], disable: [] }],
  [
    ["--enable-admission-plugins=NodeRestriction,Priority", "--enable-admission-plugins=A"],
    { enable: ["NodeRestriction", "Priority", "A"], disable: [] },
  ],
  [["--admission-control=A", "--admission-control=B,C"], { enable: [], disable: [], only: ["A", "B", "C"] }],
  [["--admission-control="], { enable: [], disable: [], only: [] }],
  [["--enable-admission-plugins="], { enable: [], disable: [] }],
  [["--admission-control-config-file=/a.yaml"], { enable: [], disable: [], configFile: "/a.yaml" }],
  [
    ["--default-not-ready-toleration-seconds=60", "--default-unreachable-toleration-seconds", "-1"],
    { enable: [], disable: [], notReadyTolerationSeconds: 60, unreachableTolerationSeconds: -1 },
  ],
  [["--disable-admission-plugins", '"A,B",C'], { enable: [], disable: ["A,B", "C"] }],
];
for (const [argv, want] of admissionRows) {
  test(`flags of admission: ${argv.join(" ")}`, () => {
    const line = parseFlags(argv);
    assert.deepEqual(line.run === "server" && line.settings.server.admission, want);
  });
}

test("rejects a list that is not CSV", () =>
  assert.throws(() => parseFlags(['--enable-admission-plugins=a"b']), FlagError));

const authorizationRows: [argv: string[], want: AuthorizationOptions][] = [
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
for (const [argv, want] of authorizationRows) {
  test(`flags of authorization: ${argv.join(" ")}`, () => {
    const line = parseFlags(argv);
    assert.deepEqual(line.run === "server" && line.settings.server.authorization, want);
  });
}

test("rejects an invalid TTL", () => {
  assert.throws(() => parseFlags(["--authorization-webhook-cache-authorized-ttl=x"]), FlagError);
});
