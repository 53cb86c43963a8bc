/** The command line of `coxswain test`. */
import type { Settings } from "../flags.ts";
import { FlagError, parseFlags } from "../flags.ts";

/** What `coxswain test` does. */
export type TestCommandLine =
  /** Runs a command and returns its exit code. */
  | { readonly run: "command"; readonly settings: Settings; readonly command: readonly [string, ...string[]] }
  /** Serves until standard input closes. */
  | { readonly run: "serve"; readonly settings: Settings }
  | { readonly run: "help" };

/** The option with which kits start a server. */
export const untilStdinCloses = "--until-stdin-closes";

/** No data directory; a file system has none with this name. */
const noDirectory = "\0";

/**
 * Parses the arguments after `test`: own options and flags of the server, then `--` and a command.
 *
 * @throws FlagError
 */
export function parseTestCommandLine(argv: readonly string[]): TestCommandLine {
  const at = argv.indexOf("--");
  const options = at === -1 ? argv : argv.slice(0, at);
  const [program, ...rest] = at === -1 ? [] : argv.slice(at + 1);
  if (options.includes("--help") || options.includes("-h")) return { run: "help" };
  const settings = serverSettings(options.filter((word) => word !== untilStdinCloses));
  if (!options.includes(untilStdinCloses)) {
    if (program === undefined) throw new FlagError("expected -- and a command");
    return { run: "command", settings, command: [program, ...rest] };
  }
  if (program !== undefined) throw new FlagError(`${untilStdinCloses} runs no command`);
  return { run: "serve", settings };
}

/** The settings of a server in memory, on a free port unless a flag chooses one. */
function serverSettings(flags: readonly string[]): Settings {
  const line = parseFlags(["--storage=memory", `--data-dir=${noDirectory}`, "--secure-port=0", ...flags]);
  if (line.run === "print") throw new FlagError("expected flags of the server");
  const { storage, dataDir } = line.settings.server;
  if (storage !== "memory") throw new FlagError(`the server keeps its objects in memory, not in ${storage}`);
  if (dataDir !== noDirectory) throw new FlagError("the server keeps its objects in memory: it has no --data-dir");
  return { ...line.settings, server: { ...line.settings.server, dataDir: undefined } };
}
