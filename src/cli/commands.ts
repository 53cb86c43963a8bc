/** The commands besides the one that starts the server. */
import type { Output } from "./output.ts";

/** Each is loaded when it is run. */
export const subcommands: Readonly<Record<string, () => Promise<Subcommand>>> = {
  admission: async () => (await import("./admission/command.ts")).admissionCommand,
  auth: async () => (await import("./auth/command.ts")).authCommand,
  cel: async () => (await import("./cel/command.ts")).celCommand,
  envtest: async () => (await import("./envtest/command.ts")).envtestCommand,
  "pod-security": async () => (await import("./pod-security/command.ts")).podSecurityCommand,
  policy: async () => (await import("./policy/command.ts")).policyCommand,
  quota: async () => (await import("./quota/command.ts")).quotaCommand,
  store: async () => (await import("./store/command.ts")).storeCommand,
};

/** Returns the exit code. */
type Subcommand = (argv: readonly string[], output: Output, env: NodeJS.ProcessEnv) => Promise<number>;
