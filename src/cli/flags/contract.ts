/**
 * A flag of the server is a row. Parsing, `--help`, shell completion and docs/reference/flags.md come from it, and the
 * option of `startServer` with its default, which `npm run generate` writes.
 */
import type { ServerOptions } from "../../server/options.ts";
import type { ColorMode } from "../colors.ts";
import type { PathOf, ValueAt } from "./option-path.ts";

/** How the log is written. */
export interface LogOptions {
  readonly format: "text" | "json";
  /** How long lines wait at most in a buffer. */
  readonly flushMs: number;
  readonly text: LogStreams;
  readonly json: LogStreams;
}

/** The streams of a format. */
export interface LogStreams {
  /** Whether lines that report no error are written to standard output. */
  readonly splitStream: boolean;
  /** Bytes of these lines that wait to be written. */
  readonly infoBufferSize: number;
}

/** Options of the command itself. */
export interface CommandOptions {
  /** Whether clients can control the server by paths under `/testing/`. */
  readonly testControl: boolean;
  /** Whether the time of the server is stopped until such a client moves it. */
  readonly virtualClock: boolean;
  readonly log: LogOptions;
  /** Of messages for the user; the log has none. */
  readonly color: ColorMode;
  /** Whether there are no warnings about deprecated flags. */
  readonly suppressDeprecationWarnings: boolean;
}

/** What flags set: options of the server, and those of the command below `command`. */
export interface FlagOptions extends Omit<ServerOptions, "logger" | "clock"> {
  readonly command: CommandOptions;
}

/** What the command line configures. */
export interface Settings {
  readonly server: Omit<FlagOptions, "command">;
  readonly command: CommandOptions;
  /** The values of all flags by name, as `/flagz` shows them. */
  readonly flags: Readonly<Record<string, string>>;
  /** Messages for the user about deprecated flags, and flags without effect. */
  readonly warnings: readonly string[];
}

/** The path of an option that a flag can set: `securePort`, `audit.log.path`. */
export type OptionPath = PathOf<FlagOptions>;

/** How the values of a flag are written. */
export interface FlagType<T> {
  /** What `--help` calls a value: `duration`. */
  readonly value: string;
  /** The type of the option as `npm run generate` writes it; a type of an option's members needs none. */
  readonly ts?: string;
  /** The value is optional, and `true` without one. */
  readonly isSwitch?: true;
  /** The values that the flag accepts, if there are few; shell completion offers them. */
  readonly choices?: readonly string[];
  /**
   * Parses a value.
   * @param before the result for the same option earlier on the command line
   * @returns undefined if the flag has no effect with this value, not even an earlier one
   * @throws FlagValueError
   */
  read(text: string, before: T | undefined): T | undefined;
  /** Writes a default; `String` without it. */
  format?(value: T): string;
}

interface FlagRow {
  /** Without its dashes: `secure-port`. */
  readonly name: string;
  /** The letter of a short form: `v` for `-v`. */
  readonly short?: string;
  /** One paragraph for `--help` and the reference. */
  readonly help: string;
  /** Upstream's deprecation message. `--help` does not show deprecated flags. */
  readonly deprecated?: string;
  /** `--help` does not show the flag. */
  readonly hidden?: true;
  /**
   * The default of kube-apiserver if it is another, empty if it has none. Null if kube-apiserver does not have the
   * flag.
   */
  readonly upstream?: string | null;
}

/** A flag that sets an option, whose default is that of the flag. */
interface OptionRow<Path extends OptionPath> extends FlagRow {
  readonly option: Path;
  readonly type: FlagType<ValueAt<FlagOptions, Path>>;
  /**
   * The default of an option that is no member of another. `undefined`: the option is required, and may be undefined;
   * without the member it is optional.
   */
  readonly default?: ValueAt<FlagOptions, Path> | undefined;
  /** The default of the flag, if it is another than that of the option. */
  readonly commandDefault?: ValueAt<FlagOptions, Path>;
  /** The docstring of the option, if `help` describes how the value is written, or what only the command does. */
  readonly inCode?: string;
  /** The value that an unset flag has the effect of, if its option has no default; `help` says so. */
  readonly unset?: string;
}

/** A flag whose values are checked, and have no other effect. */
interface CheckedRow extends FlagRow {
  readonly option?: never;
  readonly type: FlagType<unknown>;
  readonly default?: string;
  readonly commandDefault?: never;
  readonly inCode?: never;
  readonly unset?: never;
}

/** A flag of the server. The type of its values is that of its option. */
export type Flag = { [Path in OptionPath]: OptionRow<Path> }[OptionPath] | CheckedRow;

/** Flags below one heading of `--help`. */
export type FlagGroup = readonly [heading: string, flags: readonly Flag[]];

/** The command line is invalid; the message is for the user. */
export class FlagError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagError";
  }
}

/** A flag has an invalid value; the message is for the user. */
export class FlagValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagValueError";
  }
}
