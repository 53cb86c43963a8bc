#!/usr/bin/env -S node --max-semi-space-size=8
/** The command: the server, or `cel` for people who write rules, which loads nothing of the server. */
const [first, ...rest] = process.argv.slice(2);
if (first === "cel") {
  const { celCommand } = await import("./cli/cel/command.ts");
  process.exitCode = celCommand(rest, { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) });
} else {
  const { serve } = await import("./cli/serve.ts");
  await serve(process.argv.slice(2));
}

export {};
