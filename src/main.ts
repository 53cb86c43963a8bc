#!/usr/bin/env -S node --max-semi-space-size=8
/** The command: starts the server, or runs a subcommand. */
import type { Output } from "./cli/output.ts";

/** Each is loaded when it is run. */
const subcommands: Readonly<Record<string, () => Promise<Subcommand>>> = {
  admission: async () => (await import("./cli/admission/command.ts")).admissionCommand,
  auth: async () => (await import("./cli/auth/command.ts")).authCommand,
  cel: async () => (await import("./cli/cel/command.ts")).celCommand,
  envtest: async () => (await import("./cli/envtest/command.ts")).envtestCommand,
  "pod-security": async () => (await import("./cli/pod-security/command.ts")).podSecurityCommand,
  policy: async () => (await import("./cli/policy/command.ts")).policyCommand,
  quota: async () => (await import("./cli/quota/command.ts")).quotaCommand,
  store: async () => (await import("./cli/store/command.ts")).storeCommand,
};

/** Returns the exit code. */
type Subcommand = (argv: readonly string[], output: Output, env: NodeJS.ProcessEnv) => Promise<number>;

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
