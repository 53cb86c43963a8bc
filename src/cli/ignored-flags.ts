/**
 * Flags of kube-apiserver that this server does not implement. They are parsed and validated as
 * upstream does, so that manifests and scripts for kube-apiserver work. Flags that must not be
 * ignored are rejected.
 */

import { boolValue, durationMs, FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Check = (text: string) => unknown;

const count: Check = (text) => integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const anything: Check = () => {};

/**
 * A flag without effect.
 *
 * @param term in the syntax of commander
 */
function ignored(term: string, check: Check): Flag {
  return {
    term,
    help: "Without effect.",
    hidden: true,
    set: (text) => void check(text),
  };
}

/**
 * A flag that is rejected.
 *
 * @param why the error message
 * @param isHarmless whether a value requests what this server does anyway
 */
function unsupported(term: string, why: string, isHarmless: (text: string) => boolean = (text) => text === ""): Flag {
  const help = `Not supported: ${why}. Values that request nothing else are accepted.`;
  const set = (text: string): void => {
    if (!isHarmless(text)) throw new FlagValueError(why);
  };
  return { term, help, hidden: true, set };
}

const isFalse = (text: string): boolean => !boolValue(text);
const isZero = (text: string): boolean => count(text) === 0;
/** Checks a lower limit. @param message upstream's error message */
const atLeast =
  (min: number, message: string): Check =>
  (text) => {
    if ((count(text) as number) < min) throw new FlagValueError(message);
  };

function storageBackend(text: string): void {
  if (text !== "" && text !== "etcd3")
    throw new FlagValueError("invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'");
}

const notYet = "not supported yet";

export const ignoredFlags: readonly Flag[] = [
  ignored("--storage-backend <name>", storageBackend),
  ignored("--delete-collection-workers <int>", atLeast(1, "must be a positive number")),
  unsupported(
    "--enable-garbage-collector [bool]",
    "the garbage collector cannot be disabled by this flag; see --controllers",
    boolValue,
  ),
  unsupported("--allow-privileged [bool]", "privileged containers are always allowed", boolValue),
  ignored("--kubelet-timeout <duration>", durationMs), // Without effect in upstream, too.
  ignored("--profiling [bool]", boolValue),
  ignored("--contention-profiling [bool]", boolValue),
  ignored("-v, --v <level>", (text) => count(text.replace(/^=/, ""))), // `-v=2` is `-v 2`.
  ignored("--vmodule <settings>", anything),
  ignored("--log-flush-frequency <duration>", durationMs),
  ignored("--log-text-info-buffer-size <quantity>", anything),
  unsupported("--log-text-split-stream [bool]", "all logs are written to standard error", isFalse),
  unsupported("--cors-allowed-origins <patterns>", notYet),
  unsupported("--debug-socket-path <path>", notYet),
  unsupported("--disable-http2-serving [bool]", "HTTP/2 cannot be disabled", isFalse),
  unsupported("--emulation-forward-compatible [bool]", notYet, isFalse),
  unsupported("--runtime-config-emulation-forward-compatible [bool]", notYet, isFalse),
  {
    ...unsupported("--enable-logs-handler [bool]", "/logs is not served", isFalse),
    deprecated: "Log handler functionality is deprecated",
  },
  unsupported("--encryption-provider-config <file>", "encryption at rest is not supported yet"),
  unsupported(
    "--encryption-provider-config-automatic-reload [bool]",
    "encryption at rest is not supported yet",
    isFalse,
  ),
  unsupported("--external-hostname <name>", notYet),
  unsupported("--http2-max-streams-per-connection <int>", "the limit is not configurable", isZero),
  unsupported("--max-connection-bytes-per-sec <int>", notYet, isZero),
  unsupported("--permit-address-sharing [bool]", notYet, isFalse),
  unsupported("--permit-port-sharing [bool]", notYet, isFalse),
  unsupported("--service-account-signing-endpoint <endpoint>", notYet),
  unsupported("--shutdown-send-retry-after [bool]", notYet, isFalse),
  unsupported("--shutdown-watch-termination-grace-period <duration>", notYet, (text) => durationMs(text) === 0),
  unsupported("--strict-transport-security-directives <directives>", notYet),
  unsupported("--tracing-config-file <file>", notYet),
];
