/** The subcommands of `coxswain`, and the help that lists them. */
import { Command, CommanderError } from "commander";
import { colored } from "./colors.ts";
import { formatExamples } from "./help-text.ts";
import type { ListedCommand, Program } from "./subcommands.ts";

export { keepCompiledModules } from "../apimachinery/compile-cache.ts";

/** All subcommands, by the groups of the help. Each is loaded when it is run. */
export const commandGroups: readonly (readonly [group: string, commands: readonly ListedCommand[]])[] = [
  [
    "Server",
    [
      { name: "serve", summary: "starts the server, as `coxswain` without a command does" },
      {
        name: "status",
        summary: "shows what a running server serves",
        load: async () => (await import("./status/command.ts")).statusCommand,
      },
      {
        name: "doctor",
        summary: "checks what a server and its clients need",
        load: async () => (await import("./doctor/command.ts")).doctorCommand,
      },
      {
        name: "kubeconfig",
        summary: "issues client certificates for test users",
        load: async () => (await import("./kubeconfig/command.ts")).kubeconfigCommand,
      },
      {
        name: "certs",
        summary: "makes and renews the certificates and keys that servers share",
        load: async () => (await import("./certs/command.ts")).certsCommand,
      },
      {
        name: "test",
        summary: "runs a command, such as tests, with a server of its own",
        load: async () => (await import("./test/command.ts")).testCommand,
      },
      {
        name: "record",
        summary: "records the session of a command with a cluster",
        load: async () => (await import("./record/command.ts")).recordCommand,
      },
      {
        name: "replay",
        summary: "serves a recorded session",
        load: async () => (await import("./replay/command.ts")).replayCommand,
      },
      {
        name: "envtest",
        summary: "runs tests of operators that use controller-runtime's envtest",
        load: async () => (await import("./envtest/command.ts")).envtestCommand,
      },
      {
        name: "chaos",
        summary: "makes requests to a running server fail on order",
        load: async () => (await import("./chaos/command.ts")).chaosCommand,
      },
    ],
  ],
  [
    "Explain and check",
    [
      {
        name: "auth",
        summary: "explains access decisions",
        load: async () => (await import("./auth/command.ts")).authCommand,
      },
      {
        name: "admission",
        summary: "explains what admission does to a request",
        load: async () => (await import("./admission/command.ts")).admissionCommand,
      },
      {
        name: "policy",
        summary: "tests admission policies",
        load: async () => (await import("./policy/command.ts")).policyCommand,
      },
      {
        name: "pod-security",
        summary: "checks pods against Pod Security Standards",
        load: async () => (await import("./pod-security/command.ts")).podSecurityCommand,
      },
      {
        name: "quota",
        summary: "explains the usage of resource quotas",
        load: async () => (await import("./quota/command.ts")).quotaCommand,
      },
      {
        name: "cel",
        summary: "evaluates and checks CEL expressions",
        load: async () => (await import("./cel/command.ts")).celCommand,
      },
    ],
  ],
  [
    "Data",
    [
      {
        name: "store",
        summary: "backs up, repairs, copies and displays the store",
        load: async () => (await import("./store/command.ts")).storeCommand,
      },
    ],
  ],
  [
    "This program",
    [
      {
        name: "completion",
        summary: "prints the completion script of a shell",
        load: async () => (await import("./completion/command.ts")).completionOf(program),
      },
      {
        name: "version",
        summary: "prints the versions of this program",
        load: async () => (await import("./version/command.ts")).versionCommand,
      },
    ],
  ],
];

const program: Program = {
  definition: programDefinition,
  commands: () => commandGroups.flatMap(([, listed]) => listed),
};

/** Finds a subcommand by its name. */
export function findCommand(name: string): ListedCommand | undefined {
  return program.commands().find((one) => one.name === name);
}

/** The help of `coxswain`. */
export function overview(options: { readonly isColored: boolean }): string {
  const definition = programDefinition()
    .configureOutput({ getOutHasColors: () => options.isColored })
    .configureHelp({ styleTitle: (text) => colored(text, "bold", options.isColored) });
  const examples = formatExamples(
    ["", "serve --data-dir /tmp/demo --secure-port 7443", "store backup .coxswain monday.backup"],
    options,
  );
  return `${definition.helpInformation()}\n${examples}\n\nFlags of the server: coxswain serve --help\nOf a command: coxswain <command> --help\n`;
}

/** Describes that there is no subcommand of this name, and names the nearest one. @throws Error if there is one */
export function unknownCommand(name: string): string {
  try {
    programDefinition()
      .exitOverride()
      .configureOutput({ outputError() {} })
      .parse([name], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const nearest = /\(Did you mean ([^()]*)\?\)/.exec(error.message)?.[1];
    const suggestion = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
    return `unknown command ${JSON.stringify(name)} for "coxswain"${suggestion}`;
  }
  throw new Error(`${name} is a command`);
}

function programDefinition(): Command {
  const program = new Command("coxswain")
    .usage("[command] [flags]")
    .description(
      "A Kubernetes 1.36 API server. Without a command, the server starts: `coxswain --secure-port 7443` is `coxswain serve --secure-port 7443`.",
    )
    .helpOption("-h, --help", "prints this help")
    .option("--version", "prints the version")
    .helpCommand(false);
  for (const [group, commands] of commandGroups) {
    for (const { name, summary } of commands) program.command(name).summary(summary).helpGroup(`${group}:`);
  }
  program.command("help").argument("[command]").summary("prints the help of a command").helpGroup("This program:");
  return program;
}
