/** Runs the tests of the kits and of the examples in other languages, with the command of this repository. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "./coxswain-program.ts";

/** What a program printed, on both streams, and its exit code. */
interface Ran {
  readonly code: number | null;
  readonly output: string;
}

export interface KitRunner {
  /** A directory for files of the tests, removed at the end. */
  readonly directory: string;
  /** Runs a program, with the path of `coxswain` in COXSWAIN. */
  run(command: readonly [string, ...string[]], cwd: string, env?: NodeJS.ProcessEnv): Promise<Ran>;
  close(): void;
}

const timeoutMs = 1_140_000;

export function openKitRunner(): KitRunner {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-kit-"));
  const program = createProgram(directory);
  return {
    directory,
    run: ([name, ...args], cwd, env) => run(name, args, cwd, { ...process.env, COXSWAIN: program, ...env }),
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function run(name: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(name, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs });
  const pieces: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => pieces.push(String(piece)));
  const [code] = await once(child, "close");
  return { code, output: pieces.join("") };
}
