/** `coxswain test` with real commands, and as a process that kits start. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import * as tls from "node:tls";
import { Command } from "commander";
import { main } from "../../../test/support/program.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { addServerFlags } from "../flags/parse-flags.ts";
import { testCommand } from "./command.ts";
import { testServerFlags, testSettings } from "./settings.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-test-command-"));
test.after(() => rmSync(directory, { recursive: true, force: true }));

const runTest = (...argv: string[]) => runCommand((output) => testCommand.run(argv, output, process.env));

const noTimeline = "--timeline=never";
const rows: [title: string, argv: string[], code: number, err: RegExp][] = [
  ["the command succeeds", ["--", "true"], 0, /^$/],
  ["the command fails", [noTimeline, "--", "sh", "-c", "exit 7"], 7, /^$/],
  ["a signal ends the command", [noTimeline, "--", "sh", "-c", "kill -9 $$"], 137, /^$/],
  ["there is no such command", [noTimeline, "--", "no-such-program"], 127, /^Error: no-such-program is not found\n$/],
  ["the command is no program", [noTimeline, "--", directory], 126, /^Error: \S+ cannot be executed: .*EACCES\n$/],
  ["the command line is invalid", ["true"], 125, /^Error: -- is missing [^\n]+\nRun [^\n]+\n$/],
  ["the server cannot start", ["--audit-policy-file=/nothing", "--", "true"], 125, /^Error: [^\n]+\n$/],
];
describe("the exit code when", () => {
  for (const [title, argv, code, err] of rows) {
    test(title, async () => {
      const ran = await runTest(...argv);
      assert.deepEqual([ran.code, ran.out], [code, ""]);
      assert.match(ran.err, err);
    });
  }
});

const until = "--until-stdin-closes";
const invalid: [argv: string[], message: string][] = [
  [[], "a command is missing: coxswain test -- npm test"],
  [["--"], "a command is missing: coxswain test -- npm test"],
  [["--bind-address", "::1"], "a command is missing: coxswain test --bind-address ::1 -- npm test"],
  [["go", "test", "-v"], "-- is missing before the command: coxswain test -- go test -v"],
  [["--timeline=never", "go"], "-- is missing before the command: coxswain test --timeline=never -- go"],
  [["go", "test", "--"], "unexpected before --: go test"],
  [["--profiling", "false", "--", "a"], "unexpected before --: false"],
  [["--profiling", "go", "--", "a"], "unexpected before --: go"],
  [["--profiling", "go"], "-- is missing before the command: coxswain test --profiling -- go"],
  [["--secure-prot=1", "--", "a"], "unknown option '--secure-prot=1' (did you mean --secure-port?)"],
  [
    ["--secure-port=x", "--", "a"],
    'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax',
  ],
  [["--version", "--", "a"], "unknown option '--version'"],
  [
    ["--timeline=sometimes", "--", "a"],
    "option '--timeline <when>' argument 'sometimes' is invalid. Allowed choices are on-failure, always, never.",
  ],
  [[until, "--timeline=always"], "--until-stdin-closes prints no timeline"],
  [[until, "--", "a"], "--until-stdin-closes runs no command"],
  [["--storage=lmdb", "--", "a"], "the server keeps its objects in memory, not in lmdb"],
  [
    ["--etcd-servers=http://127.0.0.1:1", "--storage=etcd", "--", "a"],
    "the server keeps its objects in memory, not in etcd",
  ],
  [["--data-dir=.coxswain", "--", "a"], "the server keeps its objects in memory: it has no --data-dir"],
  [["--virtual-clock", "--enable-test-control=false", "--", "a"], "--virtual-clock needs --enable-test-control"],
];
for (const [argv, message] of invalid) {
  test(`coxswain test ${argv.join(" ")} is an error`, async () => {
    const err = `Error: ${message}\nRun coxswain test --help for its options.\n`;
    assert.deepEqual(await runTest(...argv), { code: 125, out: "", err });
  });
}

test("words after -- are those of the command", async () => {
  const script = 'test "$*" = "-- --timeline=x --help"';
  assert.equal((await runTest(noTimeline, "--", "sh", "-c", script, "sh", "--", "--timeline=x", "--help")).code, 0);
});

test("the last --timeline counts", async () => {
  const ran = await runTest("--timeline=always", noTimeline, "--", "false");
  assert.deepEqual(ran, { code: 1, out: "", err: "" });
});

test("the server is in memory, on a free port unless a flag chooses one", () => {
  const settingsOf = (...argv: string[]): unknown[] => {
    const flags = testServerFlags();
    addServerFlags(new Command(), flags).parse(argv, { from: "user" });
    const { securePort, storage, dataDir } = testSettings(flags).server;
    return [securePort, storage, dataDir];
  };
  assert.deepEqual(settingsOf(), [0, "memory", undefined]);
  assert.deepEqual(settingsOf("--secure-port", "7443"), [7443, "memory", undefined]);
});

test("the command gets a private kubeconfig, which is removed", async () => {
  const seen = join(directory, "seen");
  const script = `{ echo $COXSWAIN_URL; echo $KUBECONFIG; ls -l $KUBECONFIG; ls -ld \${KUBECONFIG%/*}; cat $KUBECONFIG; } > '${seen}'`;
  assert.equal((await runTest("--", "sh", "-c", script)).code, 0);
  const [url = "", kubeconfig = "", file, parent, ...text] = readFileSync(seen, "utf8").split("\n");
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.match(file ?? "", /^-rw------- /);
  assert.match(parent ?? "", /^drwx------ /);
  assert.ok(text.join("\n").includes(`server: ${url}`));
  assert.equal(existsSync(dirname(kubeconfig)), false);
});

test("--virtual-clock stops the time of the server", async () => {
  const script = `const { execFileSync } = require("node:child_process");
    const { readFileSync } = require("node:fs");
    const [, cert] = /client-certificate-data: (\\S+)/.exec(readFileSync(process.env.KUBECONFIG, "utf8"));
    const [, key] = /client-key-data: (\\S+)/.exec(readFileSync(process.env.KUBECONFIG, "utf8"));
    const options = { cert: atob(cert), key: atob(key), rejectUnauthorized: false, method: "POST" };
    const sent = require("node:https").request(process.env.COXSWAIN_URL + "/testing/clock", options, (answer) => {
      answer.on("data", (text) => process.exit(JSON.parse(text).virtual ? 9 : 1));
    });
    sent.end('{"advance":"1s"}');`;
  assert.equal((await runTest(noTimeline, "--virtual-clock", "--", process.execPath, "-e", script)).code, 9);
});

const request = `const https = require("node:https");
  https.get(process.env.COXSWAIN_URL + "/version", { rejectUnauthorized: false }, (answer) => process.exit(7));`;
const timelineRows: [option: string[], code: string, isPrinted: boolean][] = [
  [[], request, true],
  [[], request.replace("7", "0"), false],
  [["--timeline=always"], request.replace("7", "0"), true],
  [["--timeline=never"], request, false],
];
for (const [option, code, isPrinted] of timelineRows) {
  test(`the timeline of ${code.slice(-5, -3)} with ${option} is ${isPrinted ? "" : "not "}printed`, async () => {
    const { err } = await runTest(...option, "--", process.execPath, "-e", code);
    if (isPrinted) assert.match(err, /^\nTimeline of the server:\n.*\/version/s);
    else assert.equal(err, "");
  });
}

const urlOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });

const start = (...argv: string[]): ChildProcess =>
  spawn(process.execPath, [main, "test", ...argv], { stdio: ["pipe", "pipe", "inherit"] });

test("signals are passed on to the command, and the server ends after it", async () => {
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
  const script = `let left = 3;
    const onSignal = () => { left -= 1; if (left === 0) process.exit(9); };
    for (const signal of ${JSON.stringify(signals)}) process.on(signal, onSignal);
    console.log("ready");
    setInterval(() => {}, 1e6);`;
  const child = start("--", process.execPath, "-e", script);
  await once(child.stdout!, "data");
  for (const signal of signals) child.kill(signal);
  assert.deepEqual(await once(child, "exit"), [9, null]);
});

interface Announced {
  readonly url: string;
  readonly kubeconfig: string;
  readonly pid: number;
}

async function announced(child: ChildProcess): Promise<Announced> {
  const [line] = await once(child.stdout!, "data");
  assert.match(String(line), /^\{[^\n]*\}\n$/);
  return JSON.parse(String(line));
}

describe("--until-stdin-closes", () => {
  test("announces the server in one line, and serves until standard input closes", async () => {
    const child = start("--until-stdin-closes");
    const { url, kubeconfig, pid } = await announced(child);
    let more = "";
    child.stdout?.on("data", (piece) => {
      more += piece;
    });
    assert.equal(pid, child.pid);
    assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
    assert.ok(readFileSync(kubeconfig, "utf8").includes(url));
    child.kill("SIGINT"); // The key that stops tests on a terminal: they still need the server.
    child.stdin?.end();
    assert.deepEqual(await once(child, "close"), [0, null]);
    assert.equal(more, "");
    assert.equal(existsSync(dirname(kubeconfig)), false);
  });

  test("ends in order in a process of a test runner, while a connection is open", async () => {
    const child = spawn(process.execPath, [main, "test", "--until-stdin-closes"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, NODE_TEST_CONTEXT: "child-v8" },
    });
    const { url, kubeconfig } = await announced(child);
    // This end of the connection stays open until the server destroys it.
    const socket = tls.connect({
      socket: net.connect({ ...urlOf(url), allowHalfOpen: true }),
      ALPNProtocols: ["h2"],
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    await once(socket, "data");
    socket.on("error", () => {});
    child.stdin?.end();
    assert.deepEqual(await once(child, "exit"), [0, null]);
    assert.equal(existsSync(dirname(kubeconfig)), false);
    socket.destroy();
  });

  test("ends on SIGTERM", async () => {
    const child = start("--until-stdin-closes");
    const { kubeconfig } = await announced(child);
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [0, null]);
    assert.equal(existsSync(dirname(kubeconfig)), false);
  });

  test("ends with a test process that is killed", async () => {
    const script = `const { spawn } = require("node:child_process");
      const argv = [${JSON.stringify(main)}, "test", "--until-stdin-closes"];
      spawn(process.execPath, argv, { stdio: ["pipe", "inherit", "inherit"] });`;
    const tests = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const { kubeconfig } = await announced(tests);
    tests.kill("SIGKILL");
    await once(tests, "close"); // The server has its output, too, until it ends.
    assert.equal(existsSync(dirname(kubeconfig)), false);
  });

  test("removes the kubeconfig when the reader of its output is gone", async () => {
    const own = mkdtempSync(join(directory, "tmp-"));
    const child = spawn(process.execPath, [main, "test", "--until-stdin-closes"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: own },
    });
    child.stdout.destroy();
    await once(child, "exit");
    child.stdin.end();
    rmdirSync(own); // It is empty.
  });
});
