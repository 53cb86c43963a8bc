/**
 * The kits for other languages, and the examples that use them, in a folder that is laid out as a clone. They download and compile packages, so they run
 * with COXSWAIN_TEST_FULL=1 alone, where the programs of the language are installed. The example runs by the commands of its README.
 */
import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";
import { type NeedKey, skipWithout } from "../support/needs.ts";

const root = join(import.meta.dirname, "../..");

type Command = readonly [string, ...string[]];

interface Language {
  readonly language: NeedKey & ("go" | "python" | "java" | "rust");
  /** Run in the folder of the kit, in order. */
  readonly kit: readonly Command[];
  /** Run in both folders; it must print nothing. */
  readonly format?: Command;
}

const languages: readonly Language[] = [
  { language: "go", kit: [["go", "test", "-count=1", "./..."]], format: ["gofmt", "-l", "."] },
  {
    language: "python",
    kit: [
      ["pip", "install", "--quiet", "--requirement", "tests/requirements.txt", "."],
      ["pytest", "--quiet", "tests"],
      ["mypy", "src"],
    ],
  },
  { language: "java", kit: [["mvn", "-q", "-B", "test"]] },
  { language: "rust", kit: [["cargo", "test", "--quiet", "--locked"]], format: ["cargo", "fmt", "--check"] },
];

const ignored = /[/\\](?:target|__pycache__|\.pytest_cache|\.mypy_cache|[\w-]+\.egg-info)$/;

for (const { language, kit, format } of languages) {
  describe(language, { skip: skipWithout("full", language), timeout: 1_800_000 }, () => {
    let runner: KitRunner;
    let environment: NodeJS.ProcessEnv = {};
    const folder = (name: "kit" | "examples"): string => join(runner.directory, name, language);
    before(async () => {
      runner = openKitRunner();
      for (const name of ["kit", "examples"] as const)
        cpSync(join(root, name, language), folder(name), { recursive: true, filter: (path) => !ignored.test(path) });
      mkdirSync(join(runner.directory, "executable"));
      copyFileSync(join(runner.directory, "coxswain"), join(runner.directory, "executable/coxswain"));
      if (language === "python") environment = await createVirtualEnvironment();
    });
    after(() => runner.close());

    async function createVirtualEnvironment(): Promise<NodeJS.ProcessEnv> {
      const path = join(runner.directory, "venv");
      await succeed(["python3", "-m", "venv", path], runner.directory);
      return { PATH: join(path, "bin") + delimiter + process.env.PATH };
    }

    async function succeed(command: Command, cwd: string): Promise<string> {
      const { code, output } = await runner.run(command, cwd, environment);
      assert.equal(code, 0, output);
      return output;
    }

    test("the tests of the kit pass", async () => {
      for (const command of kit) await succeed(command, folder("kit"));
    });

    test("the example runs by the commands of its README", async () => {
      for (const command of exampleCommands(language)) await succeed(["sh", "-c", command], folder("examples"));
    });

    test("the code is formatted", { skip: format === undefined }, async () => {
      for (const name of ["kit", "examples"] as const) assert.equal(await succeed(format!, folder(name)), "");
    });
  });
}

/** The commands of the README without those that prepare what `before` has prepared. */
function exampleCommands(language: string): string[] {
  const page = readFileSync(join(root, "examples", language, "README.md"), "utf8");
  const block = /```sh\n(?<code>.*?)```/s.exec(page)?.groups?.code ?? "";
  const lines = block.trim().split("\n");
  const prepared = [`cd examples/${language}`, "npm --prefix ../.. run executable"];
  assert.deepEqual(lines.slice(0, prepared.length), prepared);
  assert.ok(lines.length <= 5, "a reader types at most five commands");
  return lines.slice(prepared.length);
}

test("the examples define the same custom resource", () => {
  const definition = (language: string): string =>
    readFileSync(join(root, "examples", language, "config/crd.yaml"), "utf8");
  for (const { language } of languages) assert.equal(definition(language), definition("go"), language);
});
