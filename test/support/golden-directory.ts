/** The files of a recorded case, in a directory of their own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface GoldenFiles {
  /** Contents by path. `/dir` in a content is the directory. */
  readonly files?: Readonly<Record<string, string>>;
  readonly directories?: readonly string[];
}

/** Reads the rows of a fixture. */
export async function goldenRows<Row>(file: string): Promise<Row[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Writes the files to a new directory for the time of the call. */
export async function inGoldenDirectory(
  { files = {}, directories = [] }: GoldenFiles,
  run: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "golden-"));
  try {
    for (const name of directories) await mkdir(join(directory, name), { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content.replaceAll("/dir", directory));
    }
    await run(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** @returns the message of the error that a function rejects with; undefined if it does not */
export async function messageOf(run: () => Promise<unknown>, directory: string): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return (error as Error).message.replaceAll(directory, "/dir");
  }
}
