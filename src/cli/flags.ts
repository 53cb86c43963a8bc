/**
 * The flags of the server and its `--help`. Names, groups and defaults are kube-apiserver's for
 * flags that it has.
 */

import { join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { controllerNames } from "../controllers/enabled.ts";
import { defaultOptions } from "../server/default-options.ts";
import type { ServerOptions } from "../server/options.ts";
import { type EtcdServerOptions, etcdDefaults } from "../storage/etcd/options.ts";
import { admissionFlags } from "./admission-flags.ts";
import { auditFlags } from "./audit-flags.ts";
import { authenticationFlags } from "./authentication-flags.ts";
import { authorizationFlags } from "./authorization-flags.ts";
import { type ColorMode, colored, colorModes, hasColors } from "./colors.ts";
import { etcdFlags, ignoredEtcdFlags } from "./etcd-flags.ts";
import { serveExitCodes } from "./exit-codes.ts";
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
  storageMediaType,
  storageMediaTypes,
  stringSlice,
  unlessEmpty,
} from "./flag-values.ts";
import { flowControlFlags } from "./flow-control-flags.ts";
import { formatExamples, formatExitCodes } from "./help-text.ts";
import { ignoredFlags } from "./ignored-flags.ts";
import { kubeletFlags } from "./kubelet-flags.ts";
import { kubernetesServiceFlags } from "./kubernetes-service-flags.ts";
import { leaderElectionFlags } from "./leader-election-flags.ts";
import { metricsFlags } from "./metrics-flags.ts";
import { peerFlags } from "./peer-flags.ts";
import { tlsFlags } from "./tls-flags.ts";
import { versionText } from "./version.ts";
import { type VersionDraft, versionFlags, versionProblem } from "./version-flags.ts";

type LoggingFormat = (typeof loggingFormats)[number];

/** What the flags configure. */
export interface Settings {
  readonly server: Omit<ServerOptions, "logger" | "clock">;
  /** Whether clients can control the server by paths under `/testing/`. */
  readonly testControl: boolean;
  /** Whether the time of the server is stopped until such a client moves it. */
  readonly virtualClock: boolean;
  readonly loggingFormat: LoggingFormat;
  /** Of messages for the user; the log has none. */
  readonly color: ColorMode;
  /** Messages for the user about deprecated flags, and flags without effect. */
  readonly warnings: readonly string[];
}

type CommandLine =
  | { readonly run: "server"; readonly settings: Settings }
  | { readonly run: "print"; readonly text: string };

/** The command line is invalid; the message is for the user. */
export class FlagError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagError";
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
/** What the flags have set so far. */
export interface Draft {
  server: Mutable<Settings["server"]>;
  testControl: boolean;
  virtualClock: boolean;
  loggingFormat: LoggingFormat;
  color: ColorMode;
  warnings: string[];
  suppressDeprecationWarnings: boolean;
  /** Undefined until the flag is parsed: the default depends on another flag. */
  historyMs?: number;
  engine?: ServerOptions["storage"];
  etcd: Mutable<Partial<EtcdServerOptions>>;
  /** Names of etcd's flags on the command line. */
  etcdFlags: Set<string>;
  readonly versions: VersionDraft;
}

/** One flag of the command line. */
export interface Flag {
  /**
   * In the syntax of commander: `--secure-port <int>`; `[bool]` for switches, whose value is
   * optional.
   */
  readonly term: string;
  readonly help: string;
  /** The default as a value of the flag; undefined if there is none. */
  readonly shown?: string;
  /** The default as a value of the flag, if setting it differs from not setting the flag. */
  readonly unset?: string;
  /** The values that the flag accepts, if there are few; shell completion offers them. */
  readonly choices?: readonly string[];
  /** Upstream's deprecation message. `--help` does not show deprecated flags. */
  readonly deprecated?: string;
  /** `--help` does not show the flag. */
  readonly hidden?: true;
  /** Applies a value to the draft. @throws FlagValueError */
  readonly set: (text: string, draft: Draft) => void;
}

const { clock: _clock, ...libraryDefaults } = defaultOptions;

const engines = ["lmdb", "memory", "etcd"] as const;
const durabilities = ["full", "relaxed"] as const;
const loggingFormats = ["text", "json"] as const;

const dataDirDefault = ".coxswain";

/** The default of kube-apiserver. */
const etcdCompactionIntervalMs = 5 * 60_000;

/** The settings without any flag. */
export const commandDefaults: Settings = {
  server: { ...libraryDefaults, storage: "lmdb", dataDir: dataDirDefault, securePort: 6443 },
  testControl: false,
  virtualClock: false,
  loggingFormat: "text",
  color: "auto",
  warnings: [],
};

const appended = (before: string, more: string): string => (before === "" ? more : `${before},${more}`);

/** All flags, by the groups of `--help`. */
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
        help: "The port on which to serve HTTPS with authentication and authorization. 0 selects a free port.",
        shown: "6443",
        set: (text, { server }) => {
          server.securePort = integerWithin(text, { min: 0, max: 65535 });
        },
      },
      {
        term: "--advertise-address <ip>",
        help: "The IP address in the endpoints of the Service kubernetes. If unset, the first address of this machine that is not loopback.",
        set: (text, { server }) => {
          server.advertiseAddress = ipAddress(text);
        },
      },
      {
        term: "--tls-cert-file <file>",
        help: "PEM file with the serving certificate, followed by its intermediate certificates. If unset, a certificate is created in --data-dir.",
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
        help: "Directory of apiserver.crt and apiserver.key, which are created if missing; ignored if --tls-cert-file is set. If --data-dir is unset, it is the directory coxswain in this one.",
        set: (text, { server }) => {
          server.certDir = unlessEmpty(text);
        },
      },
      ...tlsFlags,
    ],
  ],
  ["Flags of etcd", etcdFlags],
  [
    "Storage flags",
    [
      {
        term: "--data-dir <dir>",
        help: "Directory of the embedded store, the generated certificates and the kubeconfig file; relative to the working directory.",
        shown: dataDirDefault,
        set: (text, { server }) => {
          if (text === "") throw new FlagValueError("must name a directory");
          server.dataDir = text;
        },
      },
      {
        term: "--storage <engine>",
        help: "The storage engine: lmdb stores objects in --data-dir, memory discards them at exit, etcd stores them in --etcd-servers, and is the default if that is set.",
        shown: "lmdb",
        choices: engines,
        set: (text, draft) => {
          draft.engine = oneOf(text, engines);
        },
      },
      {
        term: "--storage-media-type <type>",
        help: "The encoding of built-in objects in a store that is shared with kube-apiserver: application/json, application/vnd.kubernetes.protobuf or application/yaml. Embedded stores keep JSON.",
        shown: "application/vnd.kubernetes.protobuf",
        choices: storageMediaTypes,
        set: (text, { server }) => {
          server.storageMediaType = storageMediaType(text);
        },
      },
      {
        term: "--durability <mode>",
        help: "full answers a write when its commit is on disk; relaxed when it is passed to the operating system, for tests.",
        shown: "full",
        choices: durabilities,
        set: (text, { server }) => {
          server.durability = oneOf(text, durabilities);
        },
      },
      {
        term: "--history-window <duration>",
        help: "How long old revisions can be read and watched from; unlimited if only --etcd-compaction-interval is set.",
        shown: "5m0s",
        set: (text, draft) => {
          draft.historyMs = durationMs(text);
        },
      },
      {
        term: "--etcd-compaction-interval <duration>",
        help: "How often the store is compacted to the revision that was current one interval earlier; 0 disables it, so that only the other limits apply. 5m0s with etcd.",
        unset: "5m0s",
        set: (text, { server }) => {
          server.compactionIntervalMs = durationMs(text);
        },
      },
      {
        term: "--history-bytes-max <quantity>",
        help: "Limit of the bytes of old revisions; above it the oldest are removed regardless of their age.",
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
        help: "Accepted for compatibility with kube-apiserver: the watch cache is always on.",
        shown: "true",
        set: (text) => {
          if (!boolValue(text)) throw new FlagValueError("the watch cache cannot be disabled");
        },
      },
      {
        term: "--default-watch-cache-size <int>",
        help: "Accepted for compatibility with kube-apiserver, where it has no effect either.",
        shown: "100",
        deprecated: "watch caches are sized automatically and this flag will be removed in a future version",
        set: (text) => {
          integerWithin(text, { min: 0, max: Number.MAX_SAFE_INTEGER });
        },
      },
      {
        term: "--watch-cache-sizes <resource#size,...>",
        help: "Accepted for compatibility with kube-apiserver, where sizes other than 0 have no effect either: caches are sized automatically.",
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
        help: "Enables or disables versions and resources, such as apps/v1=false or batch/v1/jobs=false; api/all, api/ga, api/beta and api/alpha select groups of versions. Comma-separated pairs; may be repeated.",
        set: (text, { server }) => {
          server.runtimeConfig = appended(server.runtimeConfig, text);
        },
      },
      {
        term: "--controllers <list>",
        help: `Comma-separated list of controllers to run: * for all except bootstrap-signer-controller and token-cleaner-controller, foo for the controller foo, -foo to disable it. In programs of \`coxswain envtest\` the default is none. All controllers: ${controllerNames.join(", ")}.`,
        shown: "*",
        set: (text, { server }) => {
          const { controllers } = server;
          const isDefault = controllers === commandDefaults.server.controllers;
          server.controllers = [...(isDefault ? [] : controllers), ...stringSlice(text)];
        },
      },
      {
        term: "--resource-quota-sync-period <duration>",
        help: "Interval at which the usage of all resource quotas is counted again. 0 is never.",
        shown: "5m0s",
        set: (text, { server }) => {
          server.resourceQuotaSyncMs = durationMs(text);
        },
      },
      {
        term: "--feature-gates <pairs>",
        help: "Enables or disables features by name, such as Name=true; AllAlpha and AllBeta select all alpha and beta features. Comma-separated pairs; may be repeated.",
        set: (text, { server }) => {
          server.featureGates = appended(server.featureGates, text);
        },
      },
      {
        term: "--service-cluster-ip-range <cidrs>",
        help: "IP ranges for Services: one, or an IPv4 and an IPv6 range separated by a comma. The Service kubernetes gets the first address.",
        shown: "10.0.0.0/24",
        set: (text, { server }) => {
          server.serviceClusterIpRange = text.split(",").map(cidr).join(",");
        },
      },
      {
        term: "--service-node-port-range <range>",
        help: "Range of node ports for Services.",
        shown: "30000-32767",
        set: (text, { server }) => {
          server.serviceNodePortRange = portRange(text);
        },
      },
      ...kubernetesServiceFlags,
      {
        term: "--enable-aggregator-routing [bool]",
        help: "Connects to the Services of webhooks and APIServices by their endpoint addresses instead of the cluster IP.",
        shown: "false",
        set: (text, { server }) => {
          server.enableAggregatorRouting = boolValue(text);
        },
      },
      {
        term: "--proxy-client-cert-file <file>",
        help: "PEM file with the client certificate by which servers of APIServices trust the user that this server names. The file is reloaded when it changes.",
        set: (text, { server }) => {
          server.proxyClientCertFile = unlessEmpty(text);
        },
      },
      {
        term: "--proxy-client-key-file <file>",
        help: "PEM file with the key of --proxy-client-cert-file.",
        set: (text, { server }) => {
          server.proxyClientKeyFile = unlessEmpty(text);
        },
      },
      ...peerFlags,
      {
        term: "--aggregator-reject-forwarding-redirect [bool]",
        help: "Answers 502 when the server of an APIService redirects a request.",
        shown: "true",
        set: (text, { server }) => {
          server.rejectForwardingRedirects = boolValue(text);
        },
      },
    ],
  ],
  ["Leader election flags", leaderElectionFlags],
  ["Kubelet flags", kubeletFlags],
  ["Admission flags", admissionFlags],
  ["Flow control flags", flowControlFlags],
  [
    "Generic flags",
    [
      {
        term: "--request-timeout <duration>",
        help: "Timeout of requests other than watches.",
        shown: "1m0s",
        set: (text, { server }) => {
          server.requestTimeoutMs = durationMs(text);
        },
      },
      {
        term: "--min-request-timeout <seconds>",
        help: "Minimum duration of a watch without a timeout; the duration is random. With 0, such a watch ends at once.",
        shown: "1800",
        set: (text, { server }) => {
          server.minRequestTimeoutMs = integerWithin(text, { min: 0, max: 7 * 86_400 }) * 1000;
        },
      },
      {
        term: "--storage-initialization-timeout <duration>",
        help: "How long /readyz waits at most until the watch caches of a store that several servers share are loaded.",
        shown: "1m0s",
        set: (text, { server }) => {
          server.storageInitializationTimeoutMs = durationMs(text, "can not be negative value");
        },
      },
      {
        term: "--livez-grace-period <duration>",
        help: "How long after the start /livez treats unfinished checks as healthy.",
        shown: "0s",
        set: (text, { server }) => {
          server.livezGracePeriodMs = durationMs(text);
        },
      },
      {
        term: "--shutdown-delay-duration <duration>",
        help: "How long to continue serving after a termination signal, while /readyz already fails.",
        shown: "0s",
        set: (text, { server }) => {
          server.shutdownDelayMs = durationMs(text);
        },
      },
      {
        term: "--enable-test-control [bool]",
        help: "Dangerous in production: lets clients that may use the paths under /testing/ make requests fail on purpose and read what other clients asked; see `coxswain chaos`.",
        shown: "false",
        set: (text, draft) => {
          draft.testControl = boolValue(text);
        },
      },
      {
        term: "--virtual-clock [bool]",
        help: "For tests, with --enable-test-control: stops the time of the server; clients move it forward at /testing/clock.",
        shown: "false",
        set: (text, draft) => {
          draft.virtualClock = boolValue(text);
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
        choices: loggingFormats,
        set: (text, draft) => {
          draft.loggingFormat = oneOf(text, loggingFormats);
        },
      },
      {
        term: "--suppress-deprecation-warnings [bool]",
        help: "Suppresses the warnings about deprecated flags.",
        shown: "false",
        set: (text, draft) => {
          draft.suppressDeprecationWarnings = boolValue(text);
        },
      },
    ],
  ],
  [
    "Misc flags",
    [
      {
        term: "--color <when>",
        help: "When help and messages for the user are colored: auto (on terminals, unless NO_COLOR is set), always or never.",
        shown: "auto",
        choices: colorModes,
        set: (text, draft) => {
          draft.color = oneOf(text, colorModes);
        },
      },
    ],
  ],
  ["Ignored flags", [...ignoredFlags, ...versionFlags]],
];

/**
 * Parses the command line of the server.
 *
 * @param argv the arguments without the names of node and the script
 * @throws FlagError
 */
export function parseFlags(argv: readonly string[]): CommandLine {
  const { server } = commandDefaults;
  const draft = newDraft();
  const command = newCommand(draft);
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw new FlagError(upstreamText(error));
    throw error;
  }
  const misc = command.opts<{ help?: true; version?: true }>();
  if (misc.help) return { run: "print", text: helpText(command, { isColored: colorsOf(draft) }) };
  if (misc.version) return { run: "print", text: `${versionText()}\n` };
  checkCombination(draft);
  const { certDir } = draft.server;
  draft.server.dataDir ??= certDir === undefined ? dataDirDefault : join(certDir, "coxswain");
  const etcdWarning = chooseEngine(draft);
  const { historyMs = draft.server.compactionIntervalMs === undefined ? server.historyMs : Number.POSITIVE_INFINITY } =
    draft;
  draft.server.historyMs = historyMs;
  const warnings = [...(draft.suppressDeprecationWarnings ? [] : draft.warnings), ...etcdWarning];
  return {
    run: "server",
    settings: {
      server: draft.server,
      testControl: draft.testControl,
      virtualClock: draft.virtualClock,
      loggingFormat: draft.loggingFormat,
      color: draft.color,
      warnings,
    },
  };
}

function newDraft(): Draft {
  const { server, testControl, virtualClock, loggingFormat, color } = commandDefaults;
  return {
    server: { ...server, dataDir: undefined },
    testControl,
    virtualClock,
    loggingFormat,
    color,
    warnings: [],
    suppressDeprecationWarnings: false,
    etcd: {},
    etcdFlags: new Set(),
    versions: { emulated: [], minCompatibility: [] },
  };
}

/**
 * Chooses the engine.
 * @returns a warning for flags of etcd if another one was chosen
 */
function chooseEngine({ server, engine, etcd, etcdFlags: used }: Draft): string[] {
  const { servers } = etcd;
  server.storage = engine ?? (servers === undefined ? server.storage : "etcd");
  if (server.storage !== "etcd") {
    const warning = ignoredEtcdFlags(used);
    return warning === undefined ? [] : [warning];
  }
  if (servers === undefined) throw new FlagError("--etcd-servers must be specified");
  if ((etcd.certFile === undefined) !== (etcd.keyFile === undefined))
    throw new FlagError("--etcd-certfile and --etcd-keyfile must be set together");
  server.etcd = { ...etcdDefaults, ...etcd, servers };
  server.compactionIntervalMs ??= etcdCompactionIntervalMs;
  return [];
}

function newCommand(draft: Draft): Command {
  const command = new Command("coxswain serve")
    .description(
      "Starts the server: a Kubernetes 1.36 API server with an embedded store. `coxswain` without a command is the same. `coxswain --help` lists the other commands.",
    )
    .usage("[flags]")
    .helpOption(false)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr() {}, outputError() {}, getOutHasColors: () => colorsOf(draft) })
    .configureHelp({
      optionDescription: ({ description }) => description,
      styleTitle: (text) => colored(text, "bold", true),
    });
  for (const [group, flags] of flagGroups) {
    for (const flag of flags) command.addOption(optionOf(flag, draft).helpGroup(`${group}:`));
  }
  for (const [term, help] of [
    ["-h, --help", "Prints this help."],
    ["--version", "Prints the version; `coxswain version` prints more."],
  ] as const) {
    command.addOption(new Option(term, help).helpGroup("Misc flags:"));
  }
  return command;
}

const colorsOf = ({ color }: Draft): boolean => hasColors(color, process.stdout, process.env);

function helpText(command: Command, colors: { readonly isColored: boolean }): string {
  const examples = ["serve", "serve --data-dir /tmp/demo --secure-port 7443", "serve --storage memory --secure-port 0"];
  return `${command.helpInformation()}\n${formatExamples(examples, colors)}\n\n${formatExitCodes(serveExitCodes, colors)}\n`;
}

/** The definition of all flags, for shell completion. */
export function serveDefinition(): Command {
  return newCommand(newDraft());
}

function optionOf(flag: Flag, draft: Draft): Option {
  const help = flag.shown === undefined ? flag.help : `${flag.help} (default ${flag.shown})`;
  const option = new Option(flag.term, help).argParser((text: string) => {
    try {
      flag.set(text, draft);
      if (flag.deprecated !== undefined)
        draft.warnings.push(`Flag ${option.long} has been deprecated, ${flag.deprecated}`);
    } catch (error) {
      if (error instanceof FlagValueError)
        throw new FlagError(`invalid argument ${JSON.stringify(text)} for "${option.long}" flag: ${error.message}`);
      throw error;
    }
    return text;
  });
  if (flag.deprecated !== undefined || flag.hidden) option.hideHelp();
  if (flag.choices !== undefined) option.argChoices = [...flag.choices];
  // A switch without a value is true.
  return flag.term.endsWith("[bool]") ? option.preset("true") : option;
}

/** Converts an error of commander to the message of kube-apiserver's flag library. */
function upstreamText({ code, message }: CommanderError): string {
  const name = /'(-[^' ]*)/.exec(message)?.[1] ?? "";
  if (code === "commander.unknownOption") {
    const nearest = /\(Did you mean ([^()]*)\?\)/.exec(message)?.[1];
    const suggestion = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
    return `unknown flag: ${name.split("=")[0]}${suggestion}`;
  }
  if (code === "commander.optionMissingArgument")
    return `flag needs an argument: ${/--[\w-]+/.exec(message)?.[0] ?? name}`;
  if (code === "commander.excessArguments") return "unexpected arguments: only flags are accepted";
  return message;
}

function checkCombination({ server, versions, testControl, virtualClock }: Draft): void {
  const problem = versionProblem(versions);
  if (problem !== undefined) throw new FlagError(problem);
  if ((server.tlsCertFile === undefined) !== (server.tlsPrivateKeyFile === undefined))
    throw new FlagError("--tls-cert-file and --tls-private-key-file must be set together");
  if (virtualClock && !testControl) throw new FlagError("--virtual-clock needs --enable-test-control");
}
