/**
 * Ends with one sentence on a runtime that is too old. Every file of the package imports this one
 * first. It must load on old runtimes itself, so it uses nothing that Node.js 18 lacks.
 */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The minimum versions of each runtime, one for each major version that has one; later major
 * versions are accepted. `engines` of package.json has the same.
 */
const runtimes = [
  ["bun", "Bun", ["1.4"]],
  ["deno", "Deno", ["2.9"]],
  ["node", "Node.js", ["22.20", "24.7"]],
] as const;

/**
 * Returns why the runtime cannot run this package; undefined if it can.
 *
 * @param versions `process.versions`; Bun and Deno also have a version of Node.js there
 */
export function runtimeProblem(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  const found = runtimes.find(([key]) => versions[key] !== undefined);
  if (found === undefined) return undefined;
  const [key, name, minimums] = found;
  if (isAccepted(versions[key] as string, minimums)) return undefined;
  const [bun, deno, node] = runtimes.map(([, each, versions]) => `${each} ${versions.join(" or ")}`);
  return `Coxswain needs at least ${node}, ${deno}, or ${bun}. This is ${name} ${versions[key]}.`;
}

function isAccepted(version: string, minimums: readonly string[]): boolean {
  const [major, minor] = numbersOf(version);
  const [newestMajor] = numbersOf(minimums[minimums.length - 1] as string);
  if (major > newestMajor) return true;
  return minimums.map(numbersOf).some(([leastMajor, leastMinor]) => major === leastMajor && minor >= leastMinor);
}

function numbersOf(version: string): [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split(".").map(Number.parseFloat);
  return [major, minor];
}

/** Whether the process runs the command, and not a program that imports the library. */
function isCommand(): boolean {
  const program = process.argv[1];
  return program !== undefined && realpathSync(program) === fileURLToPath(new URL("./main.js", import.meta.url));
}

/** Node.js prints the stack of an error that nothing catches: the sentence alone. */
function oneLine(error: Error): Error {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

const problem = runtimeProblem(process.versions);
if (problem !== undefined) {
  if (!isCommand()) throw oneLine(new Error(problem));
  console.error(problem);
  process.exit(1);
}
