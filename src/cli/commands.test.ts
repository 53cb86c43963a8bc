/** The command line of `coxswain`: its subcommands, their help, versions and colors. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";
import { skipWithout } from "../../test/support/needs.ts";
import { main } from "../../test/support/program.ts";
import { runCommand } from "../../test/support/run-command.ts";
import { commandGroups } from "./commands.ts";

const commands = commandGroups.flatMap(([, listed]) => listed);

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function coxswain(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  return spawnSync(process.execPath, [main, ...argv], {
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
  });
}

const rows: [argv: string[], status: number, stdout: RegExp, stderr: RegExp][] = [
  [["--help"], 0, /^Usage: coxswain \[command\] \[flags\]\n/, /^$/],
  [["-h"], 0, /\n {2}pod-security +checks pods/, /^$/],
  [["help"], 0, /\nServer:\n {2}serve +starts the server/, /^$/],
  [["help", "serve"], 0, /^Usage: coxswain serve \[flags\]\n.*--secure-port <int>/s, /^$/],
  [["serve", "--help"], 0, /\nExamples:\n {2}coxswain serve\n.*\nExit codes: 0 a signal/s, /^$/],
  [["help", "store", "backup"], 0, /^Usage: coxswain store backup \[options\] <data-dir> <file>\n/, /^$/],
  [["--version"], 0, /^Coxswain v\d+\.\d+\.\d+ \(Kubernetes v1\.36\)\n$/, /^$/],
  [["serve", "--version"], 0, /^Coxswain v\d+\.\d+\.\d+ \(Kubernetes v1\.36\)\n$/, /^$/],
  [["version"], 0, /^Coxswain v\d\S+\nKubernetes v1\.36\.\d+\+coxswain\nRuntime node v\d\S+ \w+\/\w+\n$/, /^$/],
  [["version", "--output", "yaml"], 2, /^$/, /^Error: .*Allowed choices are text, json/],
  [
    ["sevre"],
    1,
    /^$/,
    /^Error: unknown command "sevre" for "coxswain" \(did you mean serve\?\)\nRun coxswain --help for a list of commands\.\n$/,
  ],
  [["upgrade"], 1, /^$/, /^Error: unknown command "upgrade" for "coxswain"\n/],
  [["constructor"], 1, /^$/, /^Error: unknown command "constructor"/],
  [["help", "sevre"], 1, /^$/, /^Error: unknown command "sevre" for "coxswain" \(did you mean serve\?\)\n/],
  [
    ["auth", "explian"],
    2,
    /^$/,
    /^Error: unknown command 'explian' \(did you mean explain\?\)\nRun coxswain auth --help for its options\.\n$/,
  ],
  [["serve", "extra"], 1, /^$/, /^Error: unexpected arguments: only flags are accepted\n/],
  [["serve", "--secure-prot=1"], 1, /^$/, /^Error: unknown flag: --secure-prot \(did you mean --secure-port\?\)\n/],
];
for (const [argv, status, stdout, stderr] of rows) {
  test(`coxswain ${argv.join(" ")}`, () => {
    const ran = coxswain(argv);
    assert.match(ran.stdout, stdout);
    assert.match(ran.stderr, stderr);
    assert.equal(ran.status, status);
  });
}

test("version -o json has the members that the documents name", () => {
  const { version, kubernetes, runtime, platform, ...rest } = JSON.parse(coxswain(["version", "-o", "json"]).stdout);
  for (const text of [version, kubernetes, runtime, platform]) assert.match(text, /\d|\//);
  assert.deepEqual(rest, {});
});

const colorSequence = "\u001b[";
const colorRows: [argv: string[], env: NodeJS.ProcessEnv, isColored: boolean][] = [
  [["version", "--help"], {}, false],
  [["version", "--help", "--color=always"], {}, true],
  [["version", "--color", "always", "--help"], { NO_COLOR: "1" }, true],
  [["version", "--color=always", "--output=a"], {}, true],
  [["store", "check", "/nothing", "--color=always"], {}, true],
  [["store", "check", "/nothing"], {}, false],
  [["serve", "--color=always", "--help"], {}, true],
  [["serve", "--help"], {}, false],
  [["--help"], {}, false],
];
/** Colors are decided in one place: the first rows show each answer of it. */
const colorRowsMax = process.env.COXSWAIN_TEST_FULL === "1" ? Number.POSITIVE_INFINITY : 4;
for (const [argv, env, isColored] of colorRows.slice(0, colorRowsMax)) {
  test(`coxswain ${argv.join(" ")} ${isColored ? "has" : "has no"} colors in a pipe`, () => {
    const { stdout, stderr } = coxswain(argv, env);
    assert.notEqual(stdout + stderr, "");
    assert.equal((stdout + stderr).includes(colorSequence), isColored, stdout + stderr);
  });
}

const terminalRows: [argv: string, env: NodeJS.ProcessEnv, isColored: boolean][] = [
  ["version --help", {}, true],
  ["--help", {}, true],
  ["serve --help", {}, true],
  ["version --help", { NO_COLOR: "1" }, false],
  ["version --help", { NO_COLOR: "" }, true],
  ["version --help", { TERM: "dumb" }, false],
  ["version --help --color=never", {}, false],
  ["serve --help --color=never", {}, false],
  ["--help", { NO_COLOR: "1" }, false],
];
const skip = skipWithout("linux", "script");
for (const [argv, env, isColored] of terminalRows.slice(0, colorRowsMax)) {
  test(`coxswain ${argv} ${JSON.stringify(env)} ${isColored ? "has" : "has no"} colors on a terminal`, (context) => {
    if (skip) return context.skip(skip);
    const { stdout } = spawnSync("script", ["-qec", `'${process.execPath}' '${main}' ${argv}`, "/dev/null"], {
      encoding: "utf8",
      timeout: 120_000,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: undefined, TERM: "xterm", ...env },
    });
    assert.match(stdout, /Usage:/);
    assert.equal(stdout.includes(colorSequence), isColored, stdout);
  });
}

/** The commands that have no subcommands, with the arguments that select them. */
function leaves(command: Command, path: readonly string[] = []): string[][] {
  const visible = command.createHelp().visibleCommands(command);
  const own = visible.filter((one) => one.name() !== "help");
  return own.length === 0 ? [[...path]] : own.flatMap((one) => leaves(one, [...path, one.name()]));
}

for (const { name, load } of commands) {
  if (load === undefined) continue;
  test(`every --help of coxswain ${name} has examples and exit codes`, async () => {
    const command = await load();
    const paths = leaves(command.definition());
    for (const path of paths) {
      const { code, out } = await runCommand((output) => command.run([...path, "--help"], output, {}));
      assert.equal(code, 0);
      assert.match(out, new RegExp(`\nExamples:\n  coxswain ${[name, ...path].join(" ")}`));
      assert.match(out, /\nExit codes: 0 /);
    }
  });
}

test("each command has a page or a section, in addition to the reference", () => {
  const root = join(import.meta.dirname, "../..");
  const pages = globSync(["README.md", "docs/*.md", "docs/{how-to,test-kit}/*.md"], { cwd: root });
  const text = pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");
  const missing = commands.filter(({ name }) => !new RegExp(`(?:coxswain|npm start --) ${name}\\b`).test(text));
  assert.deepEqual(missing, []);
});
