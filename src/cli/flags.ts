/** The command line: which flags there are, what they mean, and `--help`. Names, groups and defaults are kube-apiserver's where it has the flag. */

import { join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "../options.ts";
import { admissionFlags } from "./admission-flags.ts";
import { auditFlags } from "./audit-flags.ts";
import { authenticationFlags } from "./authentication-flags.ts";
import { authorizationFlags } from "./authorization-flags.ts";
import {
  boolValue,
  byteCount,
  checkWatchCacheSizes,
  cidr,
  durationMs,
  FlagValueError,
  integerWithin,
  ipAddress,
  oneOf,
  portRange,
  unlessEmpty,
} from "./flag-values.ts";
import { idleFlags } from "./idle-flags.ts";
import { metricsFlags } from "./metrics-flags.ts";
import { tlsFlags } from "./tls-flags.ts";

export type LoggingFormat = "text" | "json";

export interface Settings {
  readonly server: Omit<ServerOptions, "logger" | "clock">;
  readonly loggingFormat: LoggingFormat;
  /** For the user: flags that were given and are deprecated, or do nothing here. */
  readonly warnings: readonly string[];
}

export type CommandLine =
  | { readonly run: "server"; readonly settings: Settings }
  | { readonly run: "print"; readonly text: string };

/** The command line is not understood; the message is for the user. */
export class FlagError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagError";
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Draft {
  server: Mutable<Settings["server"]>;
  loggingFormat: LoggingFormat;
  warnings: string[];
  /** Names of flags that were given and do nothing, by the reason. */
  idle: Map<string, Set<string>>;
  suppressDeprecationWarnings: boolean;
  /** Undefined until it is given: the default depends on another flag. */
  historyMs?: number;
}

export interface Flag {
  /** As commander writes it: `--secure-port <int>`; `[bool]` for switches, which may stand alone. */
  readonly term: string;
  readonly help: string;
  /** The default as text that the flag itself would read; undefined when there is none. */
  readonly shown?: string;
  /** What to do instead, in upstream's words. Such a flag is not shown by --help. */
  readonly deprecated?: string;
  /** Not shown by --help. */
  readonly hidden?: true;
  /** Why it does nothing, where whoever gives it may count on what it does. */
  readonly idle?: string;
  /** @throws FlagValueError */
  readonly set: (text: string, draft: Draft) => void;
}

const { clock: _clock, ...libraryDefaults } = defaultOptions;

const dataDirDefault = ".coxswain";

/** What the command does when no flag is given. */
export const commandDefaults: Settings = {
  server: { ...libraryDefaults, storage: "lmdb", dataDir: dataDirDefault, securePort: 6443 },
  loggingFormat: "text",
  warnings: [],
};

const joined = (before: string, more: string): string => (before === "" ? more : `${before},${more}`);

export const flagGroups: readonly (readonly [group: string, flags: readonly Flag[]])[] = [
  [
    "Secure serving flags",
    [
      {
        term: "--bind-address <ip>",
        help: "The IP address on which to listen for the --secure-port port.",
        shown: "127.0.0.1",
        set: (text, { server }) => {
          server.bindAddress = ipAddress(text);
        },
      },
      {
        term: "--secure-port <int>",
        help: "The port on which to serve HTTPS with authentication and authorization. 0 picks a free one.",
        shown: "6443",
        set: (text, { server }) => {
          server.securePort = integerWithin(text, { min: 0, max: 65535 });
        },
      },
      {
        term: "--advertise-address <ip>",
        help: "The IP address that the endpoints of the service kubernetes name. If unset, the first address of this machine that is not loopback.",
        set: (text, { server }) => {
          server.advertiseAddress = ipAddress(text);
        },
      },
      {
        term: "--tls-cert-file <file>",
        help: "PEM file with the serving certificate, followed by those of its authorities. If unset, one is created under --data-dir.",
        set: (text, { server }) => {
          server.tlsCertFile = text;
        },
      },
      {
        term: "--tls-private-key-file <file>",
        help: "PEM file with the private key of --tls-cert-file.",
        set: (text, { server }) => {
          server.tlsPrivateKeyFile = text;
        },
      },
      {
        term: "--cert-dir <dir>",
        help: "Directory of apiserver.crt and apiserver.key, which are made there if they are missing. Without effect where --tls-cert-file is given, but that --data-dir is coxswain in it unless it is given, too.",
        set: (text, { server }) => {
          server.certDir = unlessEmpty(text);
        },
      },
      ...tlsFlags,
    ],
  ],
  [
    "Storage flags",
    [
      {
        term: "--data-dir <dir>",
        help: "Directory of the embedded store, the created certificates and the file kubeconfig; relative to the working directory.",
        shown: dataDirDefault,
        set: (text, { server }) => {
          if (text === "") throw new FlagValueError("must name a directory");
          server.dataDir = text;
        },
      },
      {
        term: "--storage <engine>",
        help: "Where objects live: lmdb keeps them under --data-dir, memory forgets them at the end.",
        shown: "lmdb",
        set: (text, { server }) => {
          server.storage = oneOf(text, ["lmdb", "memory"]);
        },
      },
      {
        term: "--durability <mode>",
        help: "full answers a write after its commit is on disk; relaxed after it was handed to the system, for tests.",
        shown: "full",
        set: (text, { server }) => {
          server.durability = oneOf(text, ["full", "relaxed"]);
        },
      },
      {
        term: "--history-window <duration>",
        help: "How long a state can be read and watched from after it was superseded; without end when only --etcd-compaction-interval is given.",
        shown: "5m0s",
        set: (text, draft) => {
          draft.historyMs = durationMs(text);
        },
      },
      {
        term: "--etcd-compaction-interval <duration>",
        help: "How often the store is compacted to the revision that was the newest one interval before; 0 disables it, and revisions go by the other limits alone.",
        set: (text, { server }) => {
          server.compactionIntervalMs = durationMs(text);
        },
      },
      {
        term: "--history-bytes-max <quantity>",
        help: "Bytes of old revisions beyond which the oldest go, however young.",
        shown: "256Mi",
        set: (text, { server }) => {
          server.historyBytesMax = byteCount(text);
        },
      },
      {
        term: "--event-ttl <duration>",
        help: "Amount of time to retain events.",
        shown: "1h0m0s",
        set: (text, { server }) => {
          const seconds = Math.floor(durationMs(text) / 1000);
          if (seconds < 1) throw new FlagValueError("must be at least 1s");
          server.eventTtlSeconds = seconds;
        },
      },
      {
        term: "--watch-cache [bool]",
        help: "Taken so that scripts for kube-apiserver work: there is always a watch cache.",
        shown: "true",
        set: (text) => {
          if (!boolValue(text)) throw new FlagValueError("the watch cache cannot be switched off");
        },
      },
      {
        term: "--default-watch-cache-size <int>",
        help: "Taken so that scripts for kube-apiserver work, where it has no effect either.",
        shown: "100",
        deprecated: "watch caches are sized automatically and this flag will be removed in a future version",
        set: (text) => {
          integerWithin(text, { min: 0, max: Number.MAX_SAFE_INTEGER });
        },
      },
      {
        term: "--watch-cache-sizes <resource#size,...>",
        help: "Taken so that scripts for kube-apiserver work, where sizes other than 0 have no effect either: the caches find theirs.",
        set: (text) => checkWatchCacheSizes(text),
      },
    ],
  ],
  ["Authentication flags", authenticationFlags],
  ["Authorization flags", authorizationFlags],
  ["Auditing flags", auditFlags],
  ["Metrics flags", metricsFlags],
  [
    "API enablement flags",
    [
      {
        term: "--runtime-config <pairs>",
        help: "Turns versions and resources on or off, such as apps/v1=false or batch/v1/jobs=false; api/all, api/ga, api/beta and api/alpha stand for many. Pairs with commas between; may be repeated.",
        set: (text, { server }) => {
          server.runtimeConfig = joined(server.runtimeConfig, text);
        },
      },
      {
        term: "--controllers <list>",
        help: "Controllers that run, with commas between: * for all but bootstrap-signer-controller and token-cleaner-controller, foo for the one named so, -foo for all but that one.",
        shown: "*",
        set: (text, { server }) => {
          server.controllers = text.split(",").filter((name) => name !== "");
        },
      },
      {
        term: "--feature-gates <pairs>",
        help: "Switches features by name, such as Name=true; AllAlpha and AllBeta stand for many. Pairs with commas between; may be repeated.",
        set: (text, { server }) => {
          server.featureGates = joined(server.featureGates, text);
        },
      },
      {
        term: "--service-cluster-ip-range <cidrs>",
        help: "Addresses that services get, of one family or, with a comma between, of both; the first one is that of the service kubernetes.",
        shown: "10.0.0.0/24",
        set: (text, { server }) => {
          server.serviceClusterIpRange = text.split(",").map(cidr).join(",");
        },
      },
      {
        term: "--service-node-port-range <range>",
        help: "Ports that services get on every node.",
        shown: "30000-32767",
        set: (text, { server }) => {
          server.serviceNodePortRange = portRange(text);
        },
      },
      {
        term: "--enable-aggregator-routing [bool]",
        help: "Reach webhooks that are services by their endpoints rather than by the address of the service.",
        shown: "false",
        set: (text, { server }) => {
          server.enableAggregatorRouting = boolValue(text);
        },
      },
    ],
  ],
  ["Admission flags", admissionFlags],
  [
    "Generic flags",
    [
      {
        term: "--request-timeout <duration>",
        help: "How long a request may take before it is answered with a timeout; watches have their own.",
        shown: "1m0s",
        set: (text, { server }) => {
          server.requestTimeoutMs = durationMs(text);
        },
      },
      {
        term: "--min-request-timeout <seconds>",
        help: "A watch that names no timeout lasts a random time of at least so many seconds.",
        shown: "1800",
        set: (text, { server }) => {
          server.minRequestTimeoutMs = integerWithin(text, { min: 1, max: 7 * 86_400 }) * 1000;
        },
      },
      {
        term: "--livez-grace-period <duration>",
        help: "How long after the start /livez takes checks that have not finished yet for healthy.",
        shown: "0s",
        set: (text, { server }) => {
          server.livezGracePeriodMs = durationMs(text);
        },
      },
      {
        term: "--shutdown-delay-duration <duration>",
        help: "How long to go on serving after the signal to end, while /readyz already fails.",
        shown: "0s",
        set: (text, { server }) => {
          server.shutdownDelayMs = durationMs(text);
        },
      },
    ],
  ],
  [
    "Logs flags",
    [
      {
        term: "--logging-format <format>",
        help: "text or json.",
        shown: "text",
        set: (text, draft) => {
          draft.loggingFormat = oneOf(text, ["text", "json"]);
        },
      },
      {
        term: "--suppress-deprecation-warnings [bool]",
        help: "Says nothing of given flags that are deprecated.",
        shown: "false",
        set: (text, draft) => {
          draft.suppressDeprecationWarnings = boolValue(text);
        },
      },
    ],
  ],
  ["Flags without effect", idleFlags],
];

/**
 * @param argv without the names of node and the script
 * @throws FlagError
 */
export function parseFlags(argv: readonly string[]): CommandLine {
  const { server, loggingFormat } = commandDefaults;
  const draft: Draft = {
    server: { ...server, dataDir: undefined },
    loggingFormat,
    warnings: [],
    idle: new Map(),
    suppressDeprecationWarnings: false,
  };
  const command = newCommand(draft);
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw new FlagError(upstreamText(error));
    throw error;
  }
  const asked = command.opts<{ help?: true; version?: true }>();
  if (asked.help) return { run: "print", text: command.helpInformation() };
  if (asked.version) return { run: "print", text: `${versionText()}\n` };
  checkTogether(draft.server);
  const { certDir } = draft.server;
  draft.server.dataDir ??= certDir === undefined ? dataDirDefault : join(certDir, "coxswain");
  const { historyMs = draft.server.compactionIntervalMs === undefined ? server.historyMs : Number.POSITIVE_INFINITY } =
    draft;
  draft.server.historyMs = historyMs;
  const idle = Array.from(draft.idle, ([why, names]) => `No effect here: ${[...names].join(", ")}: ${why}`);
  const warnings = [...(draft.suppressDeprecationWarnings ? [] : draft.warnings), ...idle];
  return { run: "server", settings: { server: draft.server, loggingFormat: draft.loggingFormat, warnings } };
}

function newCommand(draft: Draft): Command {
  const command = new Command("coxswain")
    .description(
      "A Kubernetes 1.36 API server with an embedded store. `coxswain cel --help`: tries out and checks expressions of rules. `coxswain auth --help`: why somebody may do something, or may not. `coxswain envtest --help`: tests of operators.",
    )
    .usage("[flags]")
    .helpOption(false)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr() {}, outputError() {} })
    .configureHelp({ optionDescription: ({ description }) => description });
  for (const [group, flags] of flagGroups) {
    for (const flag of flags) command.addOption(optionOf(flag, draft).helpGroup(`${group}:`));
  }
  for (const [term, help] of [
    ["-h, --help", "Prints this list of flags."],
    ["--version", "Prints the version."],
  ] as const) {
    command.addOption(new Option(term, help).helpGroup("Misc flags:"));
  }
  return command;
}

function optionOf(flag: Flag, draft: Draft): Option {
  const help = flag.shown === undefined ? flag.help : `${flag.help} (default ${flag.shown})`;
  const option = new Option(flag.term, help).argParser((text: string) => {
    try {
      flag.set(text, draft);
      if (flag.deprecated !== undefined)
        draft.warnings.push(`Flag ${option.long} has been deprecated, ${flag.deprecated}`);
      if (flag.idle !== undefined)
        draft.idle.set(flag.idle, (draft.idle.get(flag.idle) ?? new Set()).add(option.long as string));
    } catch (error) {
      if (error instanceof FlagValueError)
        throw new FlagError(`invalid argument ${JSON.stringify(text)} for "${option.long}" flag: ${error.message}`);
      throw error;
    }
    return text;
  });
  if (flag.deprecated !== undefined || flag.hidden) option.hideHelp();
  // Alone it means true.
  return flag.term.endsWith("[bool]") ? option.preset("true") : option;
}

/** What commander says, in the words of kube-apiserver's flag library. */
function upstreamText({ code, message }: CommanderError): string {
  const name = /'(-[^' ]*)/.exec(message)?.[1] ?? "";
  if (code === "commander.unknownOption") {
    const nearest = /\(Did you mean (.*)\?\)/.exec(message)?.[1];
    const suggestion = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
    return `unknown flag: ${name.split("=")[0]}${suggestion}`;
  }
  if (code === "commander.optionMissingArgument")
    return `flag needs an argument: ${/--[\w-]+/.exec(message)?.[0] ?? name}`;
  if (code === "commander.excessArguments") return "unexpected arguments: only flags are taken";
  return message;
}

function checkTogether(server: Draft["server"]): void {
  if ((server.tlsCertFile === undefined) !== (server.tlsPrivateKeyFile === undefined))
    throw new FlagError("--tls-cert-file and --tls-private-key-file go together");
}

/** The version of this package, and of the API it serves. */
function versionText(): string {
  return `Coxswain v${packageJson.version} (Kubernetes v1.36)`;
}
