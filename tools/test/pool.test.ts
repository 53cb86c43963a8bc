/** What the test runner reports about files that leave something in their process, fail or end it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { root } from "./files.ts";
import { runPool } from "./pool.ts";
import type { FileResult } from "./protocol.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-pool-"));
after(() => rmSync(directory, { recursive: true }));

interface Row {
  readonly what: string;
  /** The body of a test in the file. */
  readonly code: string;
  /** The messages of all failures. */
  readonly failures: readonly string[];
  readonly ownProcess?: string;
  /** Code before the test. */
  readonly top?: string;
  /** Chooses tests. */
  readonly name?: string;
}

const rows: readonly Row[] = [
  { what: "passes", code: "", failures: [] },
  { what: "fails", code: 'throw new Error("planted\\nsecond line")', failures: ["planted"] },
  {
    what: "leaves a server",
    code: 'net.createServer().listen(0, "127.0.0.1")',
    failures: ["left open: 1 TCPServerWrap"],
  },
  { what: "leaves a timer", code: "setInterval(() => {}, 60_000)", failures: ["left open: 1 Timeout"] },
  {
    what: "changes variables",
    code: 'process.env.PLANTED = "1"; delete process.env.PATH',
    failures: ["changed the environment variable PATH", "changed the environment variable PLANTED"],
  },
  {
    what: "finds the variables of an earlier file restored",
    code: "assert.ok(process.env.PATH !== undefined && process.env.PLANTED === undefined)",
    failures: [],
  },
  { what: "changes the directory", code: 'process.chdir("/")', failures: ["changed the working directory to /"] },
  {
    what: "leaves a listener",
    code: 'process.on("SIGUSR2", () => {})',
    failures: ["left a listener for the event SIGUSR2 of the process"],
  },
  { what: "replaces a global", code: "globalThis.fetch = () => {}", failures: ["changed the global fetch"] },
  { what: "sets the exit code", code: "process.exitCode = 3", failures: ["set the exit code of the process to 3"] },
  {
    what: "rejects a promise later",
    code: 'setImmediate(() => void Promise.reject(new Error("late")))',
    failures: ["late"],
  },
  {
    what: "loses a connection, the socket of which has no listener",
    code: `const server = net.createServer((socket) => socket.on("data", () => socket.resetAndDestroy())).listen(0, "127.0.0.1", () => {
      net.connect(server.address().port, "127.0.0.1").on("close", () => server.close()).write("x");
    })`,
    failures: ["read ECONNRESET"],
  },
  { what: "ends its process", code: "process.exit(7)", failures: ["the process of the file ended with code 7"] },
  { what: "runs after a process that has ended", code: "", failures: [] },
  {
    what: "has a hook that waits, and no test of the chosen name",
    code: "",
    top: "before(() => new Promise(() => setInterval(() => {}, 60_000)));",
    name: "another",
    failures: [],
  },
  {
    what: "has a hook that fails and leaves a timer",
    code: "",
    top: 'setInterval(() => {}, 60_000); after(() => { throw new Error("planted hook"); });',
    failures: ["planted hook", "left open: 1 Timeout"],
  },
  {
    what: "has hooks that fail before and after its tests",
    code: "",
    top: 'let server; before(() => { net.createServer().listen(0, "127.0.0.1"); throw new Error("first"); }); after(() => server.close());',
    failures: ["first", "Cannot read properties of undefined (reading 'close')", "left open: 1 TCPServerWrap"],
  },
  {
    what: "blocks its process",
    code: "for (;;);",
    failures: ["the file did not end within 4 s"],
    ownProcess: "it is ended",
  },
];

/** Runs all rows one after the other, most of them in one process. */
async function runRows(): Promise<ReadonlyMap<string, FileResult>> {
  const files = rows.map(({ code, ownProcess, top = "", name }, index) => {
    const file = join(directory, `row-${index}.test.mjs`);
    const imports = [
      "assert from 'node:assert/strict'",
      "net from 'node:net'",
      "{ after, before, test } from 'node:test'",
      "{ scheduler } from 'node:timers/promises'",
    ];
    const lines = imports.map((one) => `import ${one};\n`).join("");
    writeFileSync(
      file,
      `${lines}void [assert, after, before, net];\n${top}\ntest("planted", async () => { await scheduler.yield(); ${code}; });\n`,
    );
    return { path: relative(root, file), ownProcess, name };
  });
  const results = new Map<string, FileResult>();
  const pool = runPool(files, {
    workers: 1,
    testTimeoutMs: 2_000,
    environment: process.env,
    traceHandles: false,
    started() {},
    finished: (result) => void results.set(result.file, result),
  });
  await pool.ended;
  return new Map(rows.map(({ what }, index) => [what, results.get(files[index]?.path as string) as FileResult]));
}

const results = await runRows();
for (const { what, failures } of rows) {
  test(`a file that ${what}`, () => {
    const messages = new Set(results.get(what)?.failures.map(({ message }) => message));
    assert.deepEqual([...messages].sort(), [...failures].sort());
  });
}

test("the error of a socket has its port and what listens to it", () => {
  const [failure] = results.get("loses a connection, the socket of which has no listener")?.failures ?? [];
  assert.match(failure?.path.join() ?? "", /of an opened socket, TCP, port \d+, listeners of /);
});
