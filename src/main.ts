#!/usr/bin/env -S node --max-semi-space-size=8
/** The command: starts the server, or a subcommand: `cel` evaluates rules, `auth` explains rights, `admission` explains what admission does, `policy` tests admission policies, `pod-security` checks pods, `quota` explains resource quotas, `store` backs up and repairs data, `envtest` prepares tests. */
const [first, ...rest] = process.argv.slice(2);
if (first === "cel") {
  const { celCommand } = await import("./cli/cel/command.ts");
  process.exitCode = await celCommand(rest, commandOutput());
} else if (first === "auth") {
  const { authCommand } = await import("./cli/auth/command.ts");
  process.exitCode = await authCommand(rest, commandOutput(), process.env);
} else if (first === "admission") {
  const { admissionCommand } = await import("./cli/admission/command.ts");
  process.exitCode = await admissionCommand(rest, commandOutput(), process.env);
} else if (first === "policy") {
  const { policyCommand } = await import("./cli/policy/command.ts");
  process.exitCode = await policyCommand(rest, commandOutput());
} else if (first === "pod-security") {
  const { podSecurityCommand } = await import("./cli/pod-security/command.ts");
  process.exitCode = await podSecurityCommand(rest, commandOutput(), process.env);
} else if (first === "quota") {
  const { quotaCommand } = await import("./cli/quota/command.ts");
  process.exitCode = await quotaCommand(rest, commandOutput(), process.env);
} else if (first === "envtest") {
  const { envtestCommand } = await import("./cli/envtest/command.ts");
  process.exitCode = await envtestCommand(rest, commandOutput());
} else if (first === "store") {
  const { storeCommand } = await import("./cli/store/command.ts");
  process.exitCode = await storeCommand(rest, commandOutput());
} else {
  const { serve } = await import("./cli/serve.ts");
  await serve(process.argv.slice(2));
}

/** Ends the process when the reader of its output has closed the pipe, as `| head` does. */
function commandOutput(): { out(text: string): void; err(text: string): void } {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  return { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) };
}

export {};
