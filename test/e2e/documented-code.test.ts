/** Runs the commands, programs, objects and configurations of the documents, and checks types; `test/code-blocks.test.ts` checks the other blocks. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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
import { type CodeBlock, codeBlocks } from "../support/code-blocks.ts";
import { kubectls } from "../support/kubectl.ts";
import { importingSources, packageSources } from "../support/package-sources.ts";

const root = join(import.meta.dirname, "../..");
const blocks = codeBlocks();
const titleOf = ({ file, line }: CodeBlock): string => `${file}:${line}`;
/** The newest, and every other one with COXSWAIN_TEST_FULL=1. */
const chosen = process.env.COXSWAIN_TEST_FULL === "1" ? kubectls() : kubectls().slice(-1);
const hasShell = process.platform !== "win32" && chosen.length > 0;

if (!hasShell) test("commands and objects", { skip: "needs a POSIX shell and kubectl" }, () => {});
for (const kubectl of hasShell ? chosen : []) {
  describe(`commands and objects, with ${basename(kubectl)}`, () => {
    let runner: BlockRunner;
    before(async () => {
      runner = await openBlockRunner(kubectl);
    });
    after(() => runner.close());
    for (const block of blocks) {
      const { check, language } = block;
      if (check !== "apply" && !(check === "run" && language !== "ts")) continue;
      test(titleOf(block), () => {
        const output = runner.run(block);
        if (language === "console") assert.match(withoutVarying(output), expectedOutput(block));
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
  for (const block of blocks.filter(({ check, language }) => check === "run" && language === "ts")) {
    test(titleOf(block), () => {
      const source = importingSources(`${block.setup}\n${block.code}`);
      const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module-typescript"], {
        cwd: root,
        input: source,
        encoding: "utf8",
        timeout: 120_000,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      assert.equal(status, 0, stdout + stderr);
    });
  }
});

test("TypeScript of documents has no type errors", { timeout: 240_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-blocks-"));
  try {
    for (const block of blocks.filter(({ language }) => language === "ts"))
      writeFileSync(
        join(directory, `${titleOf(block).replaceAll(/\W/g, "-")}.ts`),
        `${block.setup}\n${block.code}\nexport {};\n`,
      );
    symlinkSync(join(root, "node_modules"), join(directory, "node_modules"), "junction");
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(typeCheckOptions()));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", directory], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** As in the repository, with the names of the package's exports. */
function typeCheckOptions(): object {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  const exported = Object.fromEntries(Object.entries(packageSources).map(([name, file]) => [name, [join(root, file)]]));
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  const typeRoots = [join(root, "node_modules/@types")];
  return {
    compilerOptions: { ...compilerOptions, ...unused, paths: exported, typeRoots },
    include: ["*.ts", join(root, "src/**/*.d.ts")],
  };
}
