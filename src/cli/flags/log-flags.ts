/** Flags of the log. Source: k8s.io/component-base@v0.36.0/logs/api/v1/options.go and pflags.go. */
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { ModuleLevel } from "../../apimachinery/verbosity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { integerValue, parseQuantity, QuantityError } from "../../lib/quantity/quantity.ts";
import { type Flag, FlagError, type FlagType, FlagValueError, type Settings } from "./contract.ts";
import { bool, parsed, signedDuration } from "./flag-types.ts";

const levelMax = 2 ** 31 - 1;
/** Also the value of `-v=2`, which is `=2`. */
const verbosity: FlagType<number> = { value: "level", read: (text) => parseLevel(text.replace(/^=/, "")) };

/** @throws FlagValueError */
function parseLevel(text: string, lead = ""): number {
  const problem = `${lead}strconv.ParseUint: parsing ${quoteGo(text)}`;
  if (!/^\d+$/.test(text)) throw new FlagValueError(`${problem}: invalid syntax`);
  if (Number(text) > levelMax) throw new FlagValueError(`${problem}: value out of range`);
  return Number(text);
}

const modules: FlagType<readonly ModuleLevel[]> = {
  value: "pattern=N,...",
  read: (text, before = []) => [...before, ...text.split(",").filter(Boolean).map(moduleLevel)],
  format: (all) => all.map(({ pattern, level: of }) => `${pattern}=${of}`).join(","),
};

/** @throws FlagValueError */
function moduleLevel(text: string): ModuleLevel {
  const [pattern = "", number = "", ...rest] = text.split("=");
  if (pattern === "" || number === "" || rest.length > 0)
    throw new FlagValueError(`${quoteGo(text)} does not have the pattern=N format`);
  return { pattern, level: parseLevel(number, `parsing verbosity in ${quoteGo(text)}: `) };
}

const formats = ["text", "json"] as const;
const format: FlagType<(typeof formats)[number]> = {
  value: "format",
  choices: formats,
  read(text) {
    const found = formats.find((one) => one === text);
    if (found === undefined) throw new FlagError(`format: Invalid value: ${quoteGo(text)}: Unsupported log format`);
    return found;
  },
};

const bufferBytesMax = 2 ** 31;
/** Bytes, at most 2 GiB; negative for none. */
const bufferSize: FlagType<number> = {
  value: "quantity",
  read(text) {
    const bytes = Number(integerValue(parsed(() => parseQuantity(text), QuantityError)));
    return Math.max(-1, Math.min(bytes, bufferBytesMax));
  },
};

const splits = (format: string): string =>
  `With ${format} logs: errors are written to standard error, other lines to standard output. Needs the feature gate LoggingAlphaOptions.`;
const buffers = (format: string): string =>
  `With split ${format} logs: bytes of lines that wait before they are written to standard output; 0: none. Needs the feature gate LoggingAlphaOptions.`;

export const logFlags: readonly Flag[] = [
  {
    name: "logging-format",
    option: "command.log.format",
    type: format,
    help: "text or json.",
  },
  {
    name: "v",
    short: "v",
    option: "verbosity.level",
    type: verbosity,
    help: "The level of the log: from 2 on with slow requests and their steps, from 3 on with each request.",
  },
  {
    name: "vmodule",
    option: "verbosity.modules",
    type: modules,
    help: "Levels of single source files of kube-apiserver whose lines this server writes, too: httplog (requests), trace (slow requests). Patterns may contain * and ?. Only for text.",
  },
  {
    name: "log-flush-frequency",
    option: "command.log.flushMs",
    type: signedDuration,
    help: "How long lines wait at most in the buffer of split logs.",
  },
  {
    name: "log-text-split-stream",
    option: "command.log.text.splitStream",
    type: bool,
    help: splits("text"),
  },
  {
    name: "log-text-info-buffer-size",
    option: "command.log.text.infoBufferSize",
    type: bufferSize,
    help: buffers("text"),
  },
  {
    name: "log-json-split-stream",
    option: "command.log.json.splitStream",
    type: bool,
    help: splits("JSON"),
  },
  {
    name: "log-json-info-buffer-size",
    option: "command.log.json.infoBufferSize",
    type: bufferSize,
    help: buffers("JSON"),
  },
  {
    name: "suppress-deprecation-warnings",
    option: "command.suppressDeprecationWarnings",
    type: bool,
    help: "Suppresses the warnings about deprecated flags.",
    upstream: null,
  },
];

/** @returns upstream's message if the flags of the log contradict each other */
export function logProblem({ server, command: { log } }: Pick<Settings, "server" | "command">): string | undefined {
  const errors = new FieldErrors();
  if (log.flushMs <= 0)
    errors.invalid("flushFrequency", signedDuration.format?.(log.flushMs), "Must be greater than zero");
  if (log.format !== "text" && (server.verbosity?.modules ?? []).length > 0)
    errors.forbidden("vmodule", "Only supported for text log format");
  for (const [name, { splitStream, infoBufferSize }] of [["text", log.text] as const, ["json", log.json] as const]) {
    const path = `options.${name}`;
    if ((!splitStream && infoBufferSize === 0) || hasAlphaOptions(server)) continue;
    if (splitStream) errors.forbidden(`${path}.splitStream`, alphaDisabled);
    if (infoBufferSize !== 0) errors.forbidden(`${path}.infoBufferSize`, alphaDisabled);
  }
  return errors.empty ? undefined : errors.text;
}

function hasAlphaOptions({ featureGates }: Settings["server"]): boolean {
  return parseFeatureGates(featureGates).gates.enabled("LoggingAlphaOptions");
}

const alphaDisabled = "Feature LoggingAlphaOptions is disabled";
