/** The index of recorded fixtures (index.json), and how a program records a fixture again. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface Index {
  readonly sets: Readonly<Record<string, FixtureSet>>;
  /** Files in testdata folders that are not recorded, with their origin. */
  readonly others: Readonly<Record<string, string>>;
}

export interface FixtureSet {
  /** A Go package, or a TypeScript file that talks to a kube-apiserver. */
  readonly program: string;
  /** What the program records, as `module@version`. */
  readonly upstream: readonly string[];
  /** Arguments of a TypeScript program. */
  readonly usage?: string;
  /** The test that records the fixture when UPDATE_GOLDEN=1 is set. */
  readonly updatedBy?: string;
  readonly fixtures: readonly Fixture[];
}

/** Paths are relative to the root of the repository. */
export interface Fixture {
  readonly file: string;
  readonly cases: number;
  /** Lines before the first case. */
  readonly headerLines?: number;
  readonly linesPerCase?: number;
  /** Arguments of the program. */
  readonly arguments?: readonly string[];
  /** Flags of the kube-apiserver that answers the program, in addition to what each server needs. */
  readonly flags?: readonly string[];
  /** Standard input of the program: the fixture itself, or the output of a script with its arguments. */
  readonly input?: "itself" | readonly string[];
  /** Why two recordings differ. */
  readonly varies?: string;
  /** A regular expression for the lines that differ; without it, any line of a fixture that varies may differ. */
  readonly varyingLines?: string;
  /** The tests that replay the fixture; none for a table of the product. */
  readonly tests: readonly string[];
}

export const root = join(import.meta.dirname, "../..");
const outputBytesMax = 256 << 20;

export function readIndex(): Index {
  return JSON.parse(readFileSync(join(import.meta.dirname, "index.json"), "utf8"));
}

/** @returns the content of a fixture, unpacked when its name ends with .gz */
export function readFixture(file: string): Buffer {
  const content = readFileSync(join(root, file));
  return file.endsWith(".gz") ? gunzipSync(content) : content;
}

/** Counts the cases of a fixture: entries of an array, of its `rows` or of an object, else lines. */
export function countCases({ file, headerLines = 0, linesPerCase = 1 }: Fixture): number {
  const text = readFixture(file).toString();
  if (!/\.json(?:\.gz)?$/.test(file)) return (linesOf(text).length - headerLines) / linesPerCase;
  const document = JSON.parse(text);
  const rows = Array.isArray(document) ? document : (document.rows ?? Object.keys(document));
  return rows.length;
}

/** @returns the lines that are not empty */
export function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The directory of the Go module that has a program. */
export function goModuleOf(program: string): string {
  return program.startsWith("tools/golden/kubernetes/") ? "tools/golden/kubernetes" : "tools/golden";
}

/**
 * Runs the Go program of a set and returns what it records. The fixture is not changed.
 *
 * @throws Error when the program or the script that writes its input fails
 */
export function recordFixture({ program }: FixtureSet, fixture: Fixture): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-golden-"));
  try {
    const binary = join(directory, "program");
    const goModule = goModuleOf(program);
    run("go", ["build", "-C", goModule, "-o", binary, `.${program.slice(goModule.length)}`]);
    return run(binary, fixture.arguments ?? [], inputOf(fixture));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function inputOf({ file, input }: Fixture): Buffer | undefined {
  if (input === undefined) return undefined;
  return input === "itself" ? readFixture(file) : run(process.execPath, input);
}

function run(command: string, args: readonly string[], input: Buffer = Buffer.alloc(0)): Buffer {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, input, maxBuffer: outputBytesMax });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
