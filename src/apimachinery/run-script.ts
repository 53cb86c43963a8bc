/**
 * Runs a bundle with the functions that V8 compiled in an earlier process. The compile cache of Node.js keeps of a module only what is compiled before
 * it runs. V8 compiles most functions later, when they are called first, which is a third of the time of a start. This is why the package has the server
 * as a script (see tools/server-script.ts): Node.js can keep a script after it has run.
 */
import { readFileSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers";
import { fileURLToPath } from "node:url";
import { runInThisContext, Script } from "node:vm";
import { crc32 } from "node:zlib";
import { writeFileAtomicallySync } from "./write-file-atomically.ts";

/** What is compiled is kept this long after the load, or when the process ends: a start takes less, and V8 later forgets functions that are not called any more. */
const keepAfterMs = 10_000;
/** Checksums of the source and of the compiled functions. V8 compares the length of the source, its own version and its flags. */
const headerBytes = 8;

type Exports = Readonly<Record<string, unknown>>;
type Run = (module: { exports: Exports }, require: (name: string) => unknown, load: Load, url: string) => void;
type Load = (name: string) => Promise<unknown>;

/** The names that a script may use for what it is called with. `__load` is `import`, which scripts of `node:vm` lack. */
const scriptParameters = ["__module", "require", "__load", "__url"] as const;

/**
 * @param url of the script, the text of a function with {@link scriptParameters}
 * @param modules those that the script requires, by name, besides modules of Node.js
 * @returns its exports
 */
export function runScript(url: string, modules: Exports, load: Load): Exports {
  const file = fileURLToPath(url);
  const bytes = readFileSync(file);
  const run = compile(`(function(${scriptParameters.join()}){${bytes}\n})`, file, crc32(bytes));
  const requireBuiltin = createRequire(url);
  const module = { exports: {} };
  run(module, (name) => modules[name] ?? requireBuiltin(name), load, url);
  return module.exports;
}

function compile(source: string, file: string, sourceSum: number): Run {
  // Jest has modules in contexts of their own, where the classes of JavaScript are others than those of scripts.
  // biome-ignore lint/security/noGlobalEval: it is the only way to compile for such a context.
  if (runInThisContext("Error") !== Error) return globalThis.eval(`${source}\n//# sourceURL=${file}`);
  const kept = keptFile(file);
  if (kept === undefined) return new Script(source, { filename: file }).runInThisContext();
  const cachedData = readKept(kept, sourceSum);
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected) keepSoon(script, kept, sourceSum);
  return script.runInThisContext();
}

/** In the directory of the compile cache, if the process has one, which is only for this version of V8. Other runtimes than Node.js have other engines. */
function keptFile(file: string): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined || deno !== undefined) return undefined;
  const directory = nodeModule.getCompileCacheDir?.();
  return directory && join(directory, `${basename(file)}.compiled`);
}

function readKept(kept: string, sourceSum: number): Buffer | undefined {
  const bytes = unlessFailed(() => readFileSync(kept));
  if (bytes === undefined || bytes.length < headerBytes) return undefined;
  const cachedData = bytes.subarray(headerBytes);
  return bytes.readUInt32LE(0) === sourceSum && bytes.readUInt32LE(4) === crc32(cachedData) ? cachedData : undefined;
}

function keepSoon(script: Script, kept: string, sourceSum: number): void {
  const keep = (): void => {
    clearTimeout(timer);
    process.off("exit", keep);
    unlessFailed(() => writeKept(kept, sourceSum, script.createCachedData()));
  };
  const timer = setTimeout(keep, keepAfterMs).unref();
  process.once("exit", keep);
}

function writeKept(kept: string, sourceSum: number, cachedData: Buffer): void {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(sourceSum, 0);
  header.writeUInt32LE(crc32(cachedData), 4);
  writeFileAtomicallySync(kept, Buffer.concat([header, cachedData]), 0o600);
}

/** A start does not fail because its result cannot be kept or read: the disk can be full or read-only. */
function unlessFailed<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  }
}
