/** `coxswain chaos`: makes requests to a running server fail on order. */
import { type Command, InvalidArgumentError } from "commander";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import { exitFailed } from "../exit-codes.ts";
import { FlagError, FlagValueError } from "../flags/contract.ts";
import { durationMs } from "../flags/flag-types.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";

interface ChaosOptions extends ServerOptions {
  readonly filename?: string;
  readonly for?: number;
  readonly list?: true;
  readonly clear?: true;
  readonly output: OutputFormat;
}

/** The command `coxswain chaos`. */
export const chaosCommand = defineSubcommand({
  name: "coxswain chaos",
  description:
    "Makes requests to a running Coxswain server fail on order. Adds the rules of a file, prints how often each applies, and removes them when it is interrupted or its time is over. The server needs the flag --enable-test-control, and you need the rights to the paths under /testing/faults, which by default only cluster-admin grants.",
  exitCodes: [
    [0, "the rules were removed, or listed"],
    [exitFailed, "the command line or a rule is invalid, or the server could not be controlled"],
  ],
  add(command, run) {
    addOptions(command).action((options: ChaosOptions) => run((output, env) => chaos(options, output, env)));
  },
});

function addOptions(command: Command): Command {
  addExamples(command, ["chaos -f rules.yaml", "chaos -f rules.yaml --for 10m", "chaos --list", "chaos --clear"]);
  command
    .option("-f, --filename <file>", "the rules, in YAML or JSON; - for the standard input")
    .option(
      "--for <duration>",
      "how long the rules apply, such as 10m; if unset, until the command is interrupted",
      parseFor,
    )
    .option("--list", "prints the rules of the server with their hits")
    .option("--clear", "removes all rules of the server");
  return addServerOptions(command).addOption(outputOption());
}

/** Timers of Node.js count to 2^31 ms. */
const forHoursMax = 576;

function parseFor(text: string): number {
  try {
    const ms = durationMs(text);
    if (ms > forHoursMax * 3_600_000) throw new FlagValueError(`must be at most ${forHoursMax}h`);
    return ms;
  } catch (error) {
    if (error instanceof FlagValueError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

async function chaos(options: ChaosOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const chosen = [options.filename, options.list, options.clear].filter((one) => one !== undefined);
  if (chosen.length !== 1) throw new FlagError("exactly one of --filename, --list and --clear is required");
  if (options.for !== undefined && options.filename === undefined) throw new FlagError("--for needs --filename");
  const { addedRules, applyRules, clearRules, listRules } = await import("./rules.ts");
  return withClient(options, env, async (client) => {
    if (options.list) output.out(await listRules(client, options.output));
    else if (options.clear) output.out(await clearRules(client));
    else {
      const { readDocument } = await import("../cel/documents.ts");
      const file = readDocument(options.filename as string, 1);
      const { end, stop } = endOf(options.for);
      try {
        await applyRules(client, await addedRules(client, file), { print: output.out, end });
      } finally {
        stop();
      }
    }
    return 0;
  });
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * `end` aborts at the first signal that asks the command to end, that of a closed terminal included, or after a time;
 * `stop` removes the listeners.
 */
function endOf(afterMs: number | undefined): { end: AbortSignal; stop(): void } {
  const interrupt = new AbortController();
  const abort = (): void => interrupt.abort();
  for (const signal of signals) process.once(signal, abort);
  const { signal } = interrupt;
  return {
    end: afterMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(afterMs)]),
    stop() {
      for (const name of signals) process.off(name, abort);
    },
  };
}
