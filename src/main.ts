#!/usr/bin/env -S node --max-semi-space-size=8
/** The command: starts the server, or runs a subcommand. */
import { subcommands } from "./cli/commands.ts";
import type { Output } from "./cli/output.ts";

const [name = "", ...rest] = process.argv.slice(2);
const load = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
if (load === undefined) {
  const { serve } = await import("./cli/serve.ts");
  await serve(process.argv.slice(2));
} else {
  const run = await load();
  process.exitCode = await run(rest, commandOutput(), process.env);
}

/** Ends the process when the reader of its output has closed the pipe, as `| head` does. */
function commandOutput(): Output {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  return { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) };
}
