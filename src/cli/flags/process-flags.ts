/** Flags of the process: its timeouts, log and messages. Names and defaults are kube-apiserver's. */
import { colorModes } from "../colors.ts";
import type { Flag, FlagType } from "./contract.ts";
import { bool, durationType, file, integer, validated, word } from "./flag-types.ts";

const weekSeconds = 7 * 86_400;
const secondsType = validated(integer({ max: weekSeconds, value: "seconds" }), (count) =>
  count < 0 ? "--min-request-timeout can not be negative value" : undefined,
);

/** Milliseconds, as a number of seconds. */
const seconds: FlagType<number> = {
  ...secondsType,
  read: (text, before) => (secondsType.read(text, before) as number) * 1000,
  format: (ms) => String(ms / 1000),
};

export const genericFlags: readonly Flag[] = [
  {
    name: "request-timeout",
    option: "requestTimeoutMs",
    type: durationType("--request-timeout can not be negative value"),
    default: 60_000,
    help: "Timeout of requests other than watches.",
    inCode: "Timeout of requests except watches, and those for logs, streams and proxies.",
  },
  {
    name: "min-request-timeout",
    option: "minRequestTimeoutMs",
    type: seconds,
    default: 1_800_000,
    help: "Minimum duration of a watch without a timeout; the duration is random. With 0, such a watch ends at once.",
    inCode: "Watches end after this time at the earliest, and after twice this time at the latest.",
  },
  {
    name: "storage-initialization-timeout",
    option: "storageInitializationTimeoutMs",
    type: durationType("--storage-initialization-timeout can not be negative value"),
    default: 60_000,
    help: "How long /readyz waits at most until the watch caches of a store that several servers share are loaded.",
  },
  {
    name: "livez-grace-period",
    option: "livezGracePeriodMs",
    type: durationType("--livez-grace-period can not be a negative value"),
    default: 0,
    help: "How long after the start /livez treats unfinished checks as healthy.",
  },
  {
    name: "shutdown-delay-duration",
    option: "shutdownDelayMs",
    type: durationType("--shutdown-delay-duration can not be negative value"),
    default: 0,
    help: "How long to continue serving after a termination signal, while /readyz already fails.",
    inCode: "The server goes on serving for so long after it is asked to stop, with /readyz failing.",
  },
  {
    name: "shutdown-send-retry-after",
    option: "shutdownSendRetryAfter",
    type: bool,
    default: false,
    help: "Answers requests after --shutdown-delay-duration with 429 and Retry-After, and stops to listen when the open requests are done; otherwise the server stops to listen at once. Probes and metrics are served until the end.",
    inCode:
      "Whether new requests are answered with 429 after that, until the open ones are done. Otherwise the server stops to listen.",
  },
  {
    name: "shutdown-watch-termination-grace-period",
    option: "shutdownWatchTerminationGraceMs",
    type: durationType("shutdown-watch-termination-grace-period, if provided, can not be a negative value"),
    default: 0,
    help: "After --shutdown-delay-duration, ends the open watches one after the other within this time, at least 200 in a second, so that clients do not list again all at once. 0 ends them at once.",
  },
  {
    name: "tracing-config-file",
    option: "tracingConfigFile",
    type: file,
    help: "File with a TracingConfiguration of apiserver.config.k8s.io: spans of requests are sent to a collector of OpenTelemetry.",
  },
  {
    name: "profiling",
    option: "profiling",
    type: bool,
    commandDefault: true,
    help: "Serves profiles of the process at /debug/pprof/, and the level of the log at /debug/flags/v, to users with the right to these paths.",
    inCode: "Whether profiles of the process are served at `/debug/pprof/`.",
  },
  {
    name: "debug-socket-path",
    option: "debugSocketPath",
    type: file,
    help: "Unix socket with the paths below /debug/pprof and /debug/flags, without authentication: only the user of this process can connect. A socket of this name is replaced.",
  },
  {
    name: "enable-test-control",
    option: "command.testControl",
    type: bool,
    help: "Dangerous in production: lets clients that may use the paths under /testing/ make requests fail on purpose and read what other clients asked; see `coxswain chaos`.",
    upstream: null,
  },
  {
    name: "virtual-clock",
    option: "command.virtualClock",
    type: bool,
    help: "For tests, with --enable-test-control: stops the time of the server; clients move it forward at /testing/clock.",
    upstream: null,
  },
];

export const miscFlags: readonly Flag[] = [
  {
    name: "color",
    option: "command.color",
    type: word("when", colorModes),
    help: "When help and messages for the user are colored: auto (on terminals, unless NO_COLOR is set), always or never.",
    upstream: null,
  },
];
