/** Runs the commands, programs, objects and configurations of the documents; `test/code-blocks.test.ts` and `test/documented-types.test.ts` check the rest. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseFlags } from "../../src/cli/flags.ts";
import { startServer } from "../../src/index.ts";
import {
  type BlockRunner,
  expectedOutput,
  openBlockRunner,
  withoutVarying,
  writeConfiguration,
} from "../support/block-runner.ts";
import { installPackage, linkPackage } from "../support/built-package.ts";
import { type CodeBlock, codeBlocks } from "../support/code-blocks.ts";
import { kubectls } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { compiled, main } from "../support/program.ts";
import { runProgram } from "../support/run-program.ts";

const blocks = codeBlocks();
const titleOf = ({ file, line }: CodeBlock): string => `${file}:${line}`;
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** The newest, and every other one with COXSWAIN_TEST_FULL=1. */
const chosen = isFull ? kubectls() : kubectls().slice(-1);
/**
 * Pages of which only the first block runs without COXSWAIN_TEST_FULL=1: test/e2e/record-replay.test.ts and
 * test/e2e/test-kit-runners.test.ts do what the others do.
 */
const firstOnly = new Set(["docs/test-kit/recording.md", "docs/test-kit/fixtures.md"]);
const isChosen = (block: CodeBlock, index: number, all: readonly CodeBlock[]): boolean =>
  isFull || !firstOnly.has(block.file) || all[index - 1]?.file !== block.file;
const commands = blocks
  .filter(({ check, language }) => check === "apply" || (check === "run" && language !== "ts"))
  .filter(isChosen);
const programs = blocks.filter(({ check, language }) => check === "run" && language === "ts").filter(isChosen);
const skip = skipWithout("shell", "kubectl");

if (skip) test("commands and objects", { skip }, () => {});
for (const kubectl of skip ? [] : chosen) {
  describe(`commands and objects, with ${basename(kubectl)}`, () => {
    let runner: BlockRunner;
    before(async () => {
      runner = await openBlockRunner(kubectl);
    });
    after(() => runner.close());
    for (const block of commands) {
      test(titleOf(block), () => {
        const output = runner.run(block);
        if (block.language === "console") assert.match(withoutVarying(output), expectedOutput(block));
      });
    }
  });
}

describe("configurations", () => {
  for (const block of blocks.filter(({ check }) => check === "start")) {
    test(`${titleOf(block)}: a server starts with ${block.argument}`, async () => {
      const directory = mkdtempSync(join(tmpdir(), "coxswain-configuration-"));
      try {
        const file = writeConfiguration(directory, block);
        const line = parseFlags([`${block.argument}=${file}`, "--storage=memory", "--secure-port=0"]);
        assert.ok(line.run === "server");
        const logger = { info() {}, warn() {}, error() {} };
        const server = await startServer({ ...line.settings.server, dataDir: join(directory, "data"), logger });
        await server.close();
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  }
});

/** Those with tests have a test runner of their own, and a process. */
describe("programs", () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-programs-"));
  before(() => {
    installPackage(directory, dirname(main));
    linkPackage(directory, "@kubernetes/client-node");
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  });
  after(() => rmSync(directory, { recursive: true }));

  for (const block of programs) {
    const code = `${block.setup}\n${block.code}`;
    test(titleOf(block), async () => {
      if (!code.includes('from "node:test"')) return void (await runProgram(code));
      const file = join(directory, `${titleOf(block).replaceAll(/\W/g, "-")}.ts`);
      writeFileSync(file, code);
      const env = { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_TEST_CONTEXT: undefined };
      const { status, stderr, stdout } = spawnSync(process.execPath, [file], {
        cwd: directory,
        encoding: "utf8",
        timeout: 120_000,
        env,
      });
      assert.equal(status, 0, stdout + stderr);
    });
  }
});
