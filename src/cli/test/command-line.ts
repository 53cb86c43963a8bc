/** The command line of `coxswain test`. */
import { FlagError, type Settings } from "../flags/contract.ts";
import { parseFlags } from "../flags/parse-flags.ts";

/** What `coxswain test` does. */
export type TestCommandLine =
  /** Runs a command and returns its exit code. */
  | {
      readonly run: "command";
      readonly settings: Settings;
      readonly command: readonly [string, ...string[]];
      readonly timeline: TimelineMode;
    }
  /** Serves until standard input closes. */
  | { readonly run: "serve"; readonly settings: Settings }
  | { readonly run: "help" };

/** When the timeline is printed: the default is `on-failure` of the command. */
export type TimelineMode = (typeof timelineModes)[number];
export const timelineModes = ["on-failure", "always", "never"] as const;

/** The option that chooses the release that the server emulates. */
export const kubernetesVersion = "--kubernetes-version";

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
  if (at === -1 && !options.includes(untilStdinCloses)) throw new FlagError(missingCommand(options));
  const { timeline, flags } = takeTimeline(options.filter((word) => word !== untilStdinCloses));
  const settings = serverSettings(flags.map(emulatedVersionFlag));
  if (!options.includes(untilStdinCloses)) {
    if (program === undefined) throw new FlagError(missingCommand([]));
    return { run: "command", settings, command: [program, ...rest], timeline: timeline ?? "on-failure" };
  }
  if (program !== undefined) throw new FlagError(`${untilStdinCloses} runs no command`);
  if (timeline !== undefined) throw new FlagError(`${untilStdinCloses} prints no timeline`);
  return { run: "serve", settings };
}

/** Replaces the name of the option, with or without a value, by that of the flag of the server. */
function emulatedVersionFlag(word: string): string {
  const isOption = word === kubernetesVersion || word.startsWith(`${kubernetesVersion}=`);
  return isOption ? `--emulated-version${word.slice(kubernetesVersion.length)}` : word;
}

/** Words after the first flag may be its value, so that where the command begins is not known. */
function missingCommand(words: readonly string[]): string {
  const [first] = words;
  if (first === undefined) return "a command is missing: coxswain test -- npm test";
  if (first.startsWith("-")) return `-- and a command are missing: coxswain test ${words.join(" ")} -- npm test`;
  return `-- is missing before the command: coxswain test -- ${words.join(" ")}`;
}

/** Separates `--timeline=<when>`, or the last of several, from the flags of the server. */
function takeTimeline(words: readonly string[]): { timeline: TimelineMode | undefined; flags: string[] } {
  const option = "--timeline=";
  const values = words.filter((word) => word.startsWith(option)).map((word) => word.slice(option.length));
  const timeline = values.map(timelineMode).at(-1);
  return { timeline, flags: words.filter((word) => !word.startsWith(option)) };
}

function timelineMode(text: string): TimelineMode {
  const mode = timelineModes.find((one) => one === text);
  if (mode === undefined)
    throw new FlagError(`${JSON.stringify(text)} for --timeline is none of ${timelineModes.join(", ")}`);
  return mode;
}

/** Flags of every server; later ones replace them. */
const testFlags = ["--storage=memory", `--data-dir=${noDirectory}`, "--secure-port=0", "--enable-test-control=true"];

/** The settings of a server in memory, on a free port unless a flag chooses one. @throws FlagError */
export function serverSettings(flags: readonly string[]): Settings {
  const line = parseFlags([...testFlags, ...flags]);
  if (line.run === "print") throw new FlagError("expected flags of the server");
  const { storage, dataDir } = line.settings.server;
  if (storage !== "memory") throw new FlagError(`the server keeps its objects in memory, not in ${storage}`);
  if (dataDir !== noDirectory) throw new FlagError("the server keeps its objects in memory: it has no --data-dir");
  return { ...line.settings, server: { ...line.settings.server, dataDir: undefined } };
}
