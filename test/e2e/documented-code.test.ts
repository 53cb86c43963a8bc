/** Runs the commands, programs, objects and configurations of the documents; `test/code-blocks.test.ts` and `test/documented-types.test.ts` check the rest. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseFlags } from "../../src/cli/flags/parse-flags.ts";
import { startServer } from "../../src/index.ts";
import {
  type BlockRunner,
  expectedOutput,
  openBlockRunner,
  withoutVarying,
  writeConfiguration,
} from "../support/block-runner.ts";
import { type CodeBlock, codeBlocks } from "../support/code-blocks.ts";
import { kubectls } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { runProgram } from "../support/run-program.ts";

const blocks = codeBlocks();
const titleOf = ({ file, line }: CodeBlock): string => `${file}:${line}`;
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** The newest, and every other one with COXSWAIN_TEST_FULL=1. */
const chosen = isFull ? kubectls() : kubectls().slice(-1);
/** test/e2e/record-replay.test.ts does what its commands do, without three processes for each. */
const isChosen = ({ file }: CodeBlock): boolean => isFull || file !== "docs/test-kit/recording.md";
const commands = blocks
  .filter(({ check, language }) => check === "apply" || (check === "run" && language !== "ts"))
  .filter(isChosen);
const programs = blocks.filter(({ check, language }) => check === "run" && language === "ts");
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
      test(titleOf(block), async () => {
        const output = await runner.run(block);
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

describe("programs", () => {
  for (const block of programs) {
    const code = `${block.setup}\n${block.code}`;
    const run = async (): Promise<void> => void (await runProgram(code));
    if (code.includes('from "node:test"')) describe(titleOf(block), run);
    else test(titleOf(block), run);
  }
});
