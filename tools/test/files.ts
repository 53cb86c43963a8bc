/** The test files of the project, and the choice among them. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

export interface TestFile {
  /** The path from the root of the repository, with slashes. */
  readonly path: string;
  /** Why the file needs a process of its own; undefined when it shares one. */
  readonly ownProcess?: string | undefined;
  /** Flags of the own process. */
  readonly nodeFlags?: readonly string[] | undefined;
  /** Runs only tests whose name has this text. */
  readonly name?: string | undefined;
}

/**
 * The first lines of a file that changes its process say so: `// own process: REASON`. The next line may have flags of
 * Node.js: `// node flags: --FLAG …`.
 */
const ownProcess = /^\/\/ own process: (.+)(?:\n\/\/ node flags: (.+))?$/m;
const firstLinesMax = 400;

/** All test files, sorted by their path. */
export function findTestFiles(): TestFile[] {
  return globSync("{src,test,tools,bench}/**/*.test.ts", { cwd: root, exclude: ["**/node_modules/**"] })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => {
      const [, reason, flags] = ownProcess.exec(read(path).slice(0, firstLinesMax)) ?? [];
      return { path, ownProcess: reason, nodeFlags: flags?.split(" ") };
    });
}

/**
 * Chooses files by words: all whose path has one of them, or else those with a test whose name has it.
 *
 * @param words paths, parts of paths, or texts of test names; none: all files
 */
export function chooseFiles(files: readonly TestFile[], words: readonly string[]): TestFile[] {
  if (words.length === 0) return [...files];
  const chosen = words.flatMap((word) => {
    const path = word.replace(/^\.\//, "");
    const named = files.filter((file) => file.path.includes(path));
    return named.length > 0 ? named : filesWithTest(files, word);
  });
  const paths = new Set<string>();
  return chosen.filter(({ path }) => !paths.has(path) && paths.add(path));
}

function filesWithTest(files: readonly TestFile[], name: string): TestFile[] {
  const lowerCase = name.toLowerCase();
  return files.filter(({ path }) => read(path).toLowerCase().includes(lowerCase)).map((file) => ({ ...file, name }));
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The area of a file, by which times are summed: two folders, and a third below test/e2e. */
export function areaOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders.slice(0, path.startsWith("test/e2e/") ? 3 : 2).join("/");
}
