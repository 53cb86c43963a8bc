/**
 * Flags of kube-apiserver's that have nothing to do here: taken, with its checks, so that manifests and scripts for it work. Where somebody could
 * rely on what they would do, the start says that they do nothing. Those that would leave something undone that must not be are refused, by name.
 */

import { boolValue, durationMs, FlagValueError, integerWithin, oneOf, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Check = (text: string) => unknown;

const count: Check = (text) => integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const anything: Check = () => {};

/** @param term as commander writes it @param idle what the start says when it is given */
function taken(term: string, check: Check, idle?: string): Flag {
  return { term, help: "", hidden: true, ...(idle && { idle }), set: (text) => void check(text) };
}

/** @param why what is asked for cannot be had @param isHarmless values that ask for nothing */
function refused(term: string, why: string, isHarmless: (text: string) => boolean = (text) => text === ""): Flag {
  const set = (text: string): void => {
    if (!isHarmless(text)) throw new FlagValueError(why);
  };
  return { term, help: "", hidden: true, set };
}

const isFalse = (text: string): boolean => !boolValue(text);
const isZero = (text: string): boolean => count(text) === 0;
/** What has to be positive, or not negative, in upstream's words. */
const atLeast =
  (min: number, message: string): Check =>
  (text) => {
    if ((count(text) as number) < min) throw new FlagValueError(message);
  };

function storageBackend(text: string): void {
  if (text !== "" && text !== "etcd3")
    throw new FlagValueError("invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'");
}

function goawayChance(text: string): void {
  const chance = Number(text);
  if (text.trim() === "" || Number.isNaN(chance))
    throw new FlagValueError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (chance < 0 || chance > 0.02) throw new FlagValueError("can not be less than 0 or greater than 0.02");
}

function toleration(text: string): void {
  integerWithin(text, { min: 0, max: Number.MAX_SAFE_INTEGER });
}

const embedded = "objects live in the embedded store, not in etcd; see --storage and --data-dir";
const noKubelets = "nothing here talks to kubelets yet";
const noAggregation = "requests are not passed on to other API servers yet";
const noLimits = "requests in flight are not limited yet";
const noTolerations = "the plugin DefaultTolerationSeconds is missing";
const notYet = "this is not there yet";

const mediaTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"] as const;
const reconcilers = ["master-count", "lease"] as const;

export const idleFlags: readonly Flag[] = [
  taken("--etcd-servers <urls>", stringSlice, embedded),
  taken("--etcd-servers-overrides <overrides>", stringSlice, embedded),
  taken("--etcd-cafile <file>", anything, embedded),
  taken("--etcd-certfile <file>", anything, embedded),
  taken("--etcd-keyfile <file>", anything, embedded),
  refused("--etcd-prefix <prefix>", "keys begin with /registry", (text) => text.replace(/^\/|\/$/g, "") === "registry"),
  taken("--etcd-count-metric-poll-period <duration>", durationMs),
  taken("--etcd-db-metric-poll-interval <duration>", durationMs),
  taken("--etcd-healthcheck-timeout <duration>", durationMs),
  taken("--etcd-readycheck-timeout <duration>", durationMs),
  taken("--lease-reuse-duration-seconds <int>", count),
  taken("--storage-backend <name>", storageBackend, embedded),
  taken("--storage-media-type <type>", (text) => oneOf(text, mediaTypes)),
  taken("--storage-initialization-timeout <duration>", durationMs),
  taken("--delete-collection-workers <int>", atLeast(1, "must be a positive number")),
  refused(
    "--enable-garbage-collector [bool]",
    "the garbage collector cannot be switched off so; see --controllers",
    boolValue,
  ),
  refused("--allow-privileged [bool]", "privileged containers are always allowed", boolValue),
  taken("--kubelet-certificate-authority <file>", anything, noKubelets),
  taken("--kubelet-client-certificate <file>", anything, noKubelets),
  taken("--kubelet-client-key <file>", anything, noKubelets),
  taken("--kubelet-preferred-address-types <types>", stringSlice, noKubelets),
  taken("--kubelet-timeout <duration>", durationMs, noKubelets),
  taken("--proxy-client-cert-file <file>", anything, noAggregation),
  taken("--proxy-client-key-file <file>", anything, noAggregation),
  taken("--aggregator-reject-forwarding-redirect [bool]", boolValue),
  taken("--max-requests-inflight <int>", atLeast(0, "can not be negative value"), noLimits),
  taken("--max-mutating-requests-inflight <int>", atLeast(0, "can not be negative value"), noLimits),
  taken("--enable-priority-and-fairness [bool]", boolValue),
  taken("--goaway-chance <float>", goawayChance),
  taken("--default-not-ready-toleration-seconds <int>", toleration, noTolerations),
  taken("--default-unreachable-toleration-seconds <int>", toleration, noTolerations),
  taken("--profiling [bool]", boolValue),
  taken("--contention-profiling [bool]", boolValue),
  taken("--coordinated-leadership-lease-duration <duration>", durationMs),
  taken("--coordinated-leadership-renew-deadline <duration>", durationMs),
  taken("--coordinated-leadership-retry-period <duration>", durationMs),
  refused("--endpoint-reconciler-type <type>", "the endpoints of the service kubernetes are always kept", (text) =>
    (reconcilers as readonly string[]).includes(text),
  ),
  taken("-v, --v <level>", (text) => count(text.replace(/^=/, ""))), // `-v=2` is `-v 2`.
  taken("--vmodule <settings>", anything),
  taken("--log-flush-frequency <duration>", durationMs),
  taken("--log-text-info-buffer-size <quantity>", anything),
  refused("--log-text-split-stream [bool]", "all that is logged goes to the standard error output", isFalse),
  refused("--admission-control <plugins>", "use --enable-admission-plugins and --disable-admission-plugins instead"),
  refused("--admission-control-config-file <file>", notYet),
  refused("--cors-allowed-origins <patterns>", notYet),
  refused("--debug-socket-path <path>", notYet),
  refused("--disable-http2-serving [bool]", "HTTP/2 cannot be switched off", isFalse),
  refused("--emulated-version <versions>", "this server is 1.36, and no other"),
  refused("--min-compatibility-version <versions>", "this server is 1.36, and no other"),
  refused("--emulation-forward-compatible [bool]", notYet, isFalse),
  refused("--runtime-config-emulation-forward-compatible [bool]", notYet, isFalse),
  refused("--enable-logs-handler [bool]", "/logs is not served", isFalse),
  refused("--encryption-provider-config <file>", "encryption at rest is not there yet"),
  refused("--encryption-provider-config-automatic-reload [bool]", "encryption at rest is not there yet", isFalse),
  refused("--external-hostname <name>", notYet),
  refused("--http2-max-streams-per-connection <int>", "the limit is this server's own", isZero),
  refused("--kubernetes-service-node-port <int>", notYet, isZero),
  refused("--max-connection-bytes-per-sec <int>", notYet, isZero),
  refused("--peer-advertise-ip <ip>", notYet),
  refused("--peer-advertise-port <port>", notYet),
  refused("--peer-ca-file <file>", notYet),
  refused("--permit-address-sharing [bool]", notYet, isFalse),
  refused("--permit-port-sharing [bool]", notYet, isFalse),
  refused("--service-account-signing-endpoint <endpoint>", notYet),
  refused("--shutdown-send-retry-after [bool]", notYet, isFalse),
  refused("--shutdown-watch-termination-grace-period <duration>", notYet, (text) => durationMs(text) === 0),
  refused("--strict-transport-security-directives <directives>", notYet),
  refused("--tracing-config-file <file>", notYet),
];
