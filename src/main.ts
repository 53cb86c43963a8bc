#!/usr/bin/env -S node --max-semi-space-size=8
/** The command: the server, `cel` for people who write rules, or `auth` for those who ask about rights; the latter two load nothing of the server. */
const [first, ...rest] = process.argv.slice(2);
if (first === "cel") {
  const { celCommand } = await import("./cli/cel/command.ts");
  process.exitCode = celCommand(rest, { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) });
} else if (first === "auth") {
  const { authCommand } = await import("./cli/auth/command.ts");
  const output = { out: (text: string) => process.stdout.write(text), err: (text: string) => process.stderr.write(text) };
  process.exitCode = await authCommand(rest, output, process.env);
} else {
  const { serve } = await import("./cli/serve.ts");
  await serve(process.argv.slice(2));
}

export {};
