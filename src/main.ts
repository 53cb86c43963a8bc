#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8
/** The command: starts the server, or runs a subcommand. */
import type { Output } from "./cli/output.ts";

printWarnings();
await main(process.argv.slice(2));

/**
 * Warnings of Node.js, except those about its experimental parts. `--disable-warning` would be shorter, but Node.js 18 ends with an error about this flag
 * before `check-runtime.ts` can report its version.
 */
function printWarnings(): void {
  process.removeAllListeners("warning"); // That of Node.js.
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`);
  });
}

/** Without a subcommand, the arguments are flags of the server. */
async function main(argv: readonly string[]): Promise<void> {
  const [name = "", ...rest] = argv;
  const isHelp = argv.length === 1 && (name === "--help" || name === "-h");
  if (isHelp || (name === "help" && rest.length === 0)) return printOverview();
  if (name === "help") return main([...rest, "--help"]);
  if (name === "" || name.startsWith("-")) return serve(argv);
  if (name === "serve") return serve(rest);
  return runCommand(name, rest);
}

async function serve(flags: readonly string[]): Promise<void> {
  const { serve } = await import("./cli/serve.ts");
  await serve(flags);
}

async function runCommand(name: string, rest: readonly string[]): Promise<void> {
  const { findCommand, keepCompiledModules, unknownCommand } = await import("./cli/commands.ts");
  keepCompiledModules(); // Before the import of the subcommand.
  const output = await commandOutput();
  const command = await findCommand(name)?.load?.();
  if (command !== undefined) {
    process.exitCode = await command.run(rest, output, process.env);
    return;
  }
  const { reportError } = await import("./cli/output.ts");
  await reportError(new Error(unknownCommand(name)), output);
  output.err("Run coxswain --help for a list of commands.\n");
  process.exitCode = 1;
}

async function printOverview(): Promise<void> {
  const { overview } = await import("./cli/commands.ts");
  const { out, outColors: isColored = false } = await commandOutput();
  out(overview({ isColored }));
}

/** Ends the process when the reader of its output has closed the pipe, as `| head` does. */
async function commandOutput(): Promise<Output> {
  const { hasColors } = await import("./cli/colors.ts");
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    errIsTerminal: process.stderr.isTTY === true && process.env.TERM !== "dumb",
    outColors: hasColors("auto", process.stdout, process.env),
    errColors: hasColors("auto", process.stderr, process.env),
  };
}
