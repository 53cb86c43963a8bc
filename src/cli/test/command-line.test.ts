import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTestCommandLine } from "./command-line.ts";

const until = "--until-stdin-closes";

const rows: [argv: string[], expected: { run: string; command?: string[]; securePort?: number }][] = [
  [["--", "true"], { run: "command", command: ["true"], securePort: 0 }],
  [["--secure-port", "7443", "--", "a", "--help"], { run: "command", command: ["a", "--help"], securePort: 7443 }],
  [["--", "a", "--", until], { run: "command", command: ["a", "--", until], securePort: 0 }],
  [[until], { run: "serve", securePort: 0 }],
  [[until, "--secure-port=7443", "--"], { run: "serve", securePort: 7443 }],
  [["--help", "--", "a"], { run: "help" }],
  [["-h"], { run: "help" }],
];
for (const [argv, expected] of rows) {
  test(`coxswain test ${argv.join(" ")}`, () => {
    const line = parseTestCommandLine(argv);
    const parsed = {
      run: line.run,
      ...(line.run === "command" && { command: line.command }),
      ...(line.run !== "help" && { securePort: line.settings.server.securePort }),
    };
    assert.deepEqual(parsed, expected);
    if (line.run === "help") return;
    const { storage, dataDir } = line.settings.server;
    assert.deepEqual([storage, dataDir], ["memory", undefined]);
  });
}

const invalid: [argv: string[], message: RegExp][] = [
  [[], /^expected -- and a command$/],
  [["--"], /^expected -- and a command$/],
  [["go", "test", "--"], /^unexpected arguments: only flags are accepted$/],
  [["--secure-prot=1", "--", "a"], /^unknown flag: --secure-prot \(did you mean --secure-port\?\)$/],
  [["--version", "--", "a"], /^expected flags of the server$/],
  [[until, "--", "a"], /^--until-stdin-closes runs no command$/],
  [["--storage=lmdb", "--", "a"], /^the server keeps its objects in memory, not in lmdb$/],
  [["--etcd-servers=http://127.0.0.1:1", "--storage=etcd", "--", "a"], /not in etcd$/],
  [["--data-dir=.coxswain", "--", "a"], /: it has no --data-dir$/],
];
for (const [argv, message] of invalid) {
  test(`coxswain test ${argv.join(" ")} is an error`, () => {
    assert.throws(() => parseTestCommandLine(argv), { name: "FlagError", message });
  });
}
