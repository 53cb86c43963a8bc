import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTestCommandLine } from "./command-line.ts";

const until = "--until-stdin-closes";

test("--kubernetes-version is the emulated version", () => {
  for (const words of [["--kubernetes-version=1.34"], ["--kubernetes-version", "1.34"]]) {
    const line = parseTestCommandLine([...words, "--", "a"]);
    assert.equal(line.run === "command" && line.settings.server.emulatedVersion, "1.34");
  }
});

const rows: [argv: string[], expected: { run: string; command?: string[]; timeline?: string; securePort?: number }][] =
  [
    [["--", "true"], { run: "command", timeline: "on-failure", command: ["true"], securePort: 0 }],
    [
      ["--secure-port", "7443", "--", "a", "--help"],
      { run: "command", timeline: "on-failure", command: ["a", "--help"], securePort: 7443 },
    ],
    [["--", "a", "--", until], { run: "command", timeline: "on-failure", command: ["a", "--", until], securePort: 0 }],
    [
      ["--timeline=always", "--timeline=never", "--", "a", "--timeline=x"],
      { run: "command", timeline: "never", command: ["a", "--timeline=x"], securePort: 0 },
    ],
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
      ...(line.run === "command" && { command: line.command, timeline: line.timeline }),
      ...(line.run !== "help" && { securePort: line.settings.server.securePort }),
    };
    assert.deepEqual(parsed, expected);
    if (line.run === "help") return;
    const { storage, dataDir } = line.settings.server;
    assert.deepEqual([storage, dataDir], ["memory", undefined]);
  });
}

const invalid: [argv: string[], message: RegExp][] = [
  [[], /^a command is missing: coxswain test -- npm test$/],
  [["--"], /^a command is missing: coxswain test -- npm test$/],
  [["go", "test"], /^-- is missing before the command: coxswain test -- go test$/],
  [["--bind-address", "::1"], /^-- and a command are missing: coxswain test --bind-address ::1 -- npm test$/],
  [["go", "test", "--"], /^unexpected arguments: only flags are accepted$/],
  [["--secure-prot=1", "--", "a"], /^unknown flag: --secure-prot \(did you mean --secure-port\?\)$/],
  [["--version", "--", "a"], /^expected flags of the server$/],
  [["--timeline=sometimes", "--", "a"], /^"sometimes" for --timeline is none of on-failure, always, never$/],
  [[until, "--timeline=always"], /^--until-stdin-closes prints no timeline$/],
  [[until, "--", "a"], /^--until-stdin-closes runs no command$/],
  [["--storage=lmdb", "--", "a"], /^the server keeps its objects in memory, not in lmdb$/],
  [["--etcd-servers=http://127.0.0.1:1", "--storage=etcd", "--", "a"], /not in etcd$/],
  [["--data-dir=.coxswain", "--", "a"], /: it has no --data-dir$/],
  [["--virtual-clock", "--enable-test-control=false", "--", "a"], /^--virtual-clock needs --enable-test-control$/],
];
for (const [argv, message] of invalid) {
  test(`coxswain test ${argv.join(" ")} is an error`, () => {
    assert.throws(() => parseTestCommandLine(argv), { name: "FlagError", message });
  });
}
