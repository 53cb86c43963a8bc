import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionOptions } from "../admission/contract.ts";
import { FlagError, parseFlags } from "./flags.ts";

const rows: [argv: string[], want: AdmissionOptions][] = [
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
for (const [argv, want] of rows) {
  test(`flags: ${argv.join(" ")}`, () => {
    const line = parseFlags(argv);
    assert.deepEqual(line.run === "server" && line.settings.server.admission, want);
  });
}

test("rejects a list that is not CSV", () =>
  assert.throws(() => parseFlags(['--enable-admission-plugins=a"b']), FlagError));
