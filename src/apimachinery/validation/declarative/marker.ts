/**
 * Parses markers of declarative validation in comments of Go types, such as `+k8s:alpha(since:
 * "1.36")=+k8s:maxItems=32`.
 * Source: k8s.io/gengo/v2@v2.0.0-20250922181213-ec3ebc5fd46b/codetags.
 */
/** A parsed marker. */
export interface Marker {
  /** Without the prefix `+k8s:`. */
  readonly name: string;
  /** By name; an argument without a name has the empty name. */
  readonly args: ReadonlyMap<string, MarkerArgument>;
  /** The marker after the equals sign; otherwise `value` is the text after it. */
  readonly inner?: Marker;
  readonly value?: string;
}

/** The value of an argument of a marker. */
export type MarkerArgument = string | number | boolean;

const markerPattern = /^\+k8s:(?<name>[A-Za-z]+)(?:\((?<args>(?:"(?:[^"\\]|\\.)*"|[^")])*)\))?(?:=(?<value>.*))?$/s;
/** Bounded: the arguments of one marker in the table of types. */
const argumentPattern = /\s*(?:(?<name>[A-Za-z_]\w*)\s*:\s*)?(?<value>"(?:[^"\\]|\\.)*"|[^",\s][^",]*)\s*(?:,|$)/y;

/** @throws Error if the text is not a marker, which is a bug in the table of types */
export function parseMarker(text: string): Marker {
  const { name, args, value } = markerPattern.exec(text)?.groups ?? {};
  if (name === undefined) throw new Error(`malformed marker ${text}`);
  const parsed = { name, args: parseArguments(args ?? "", text) };
  if (value === undefined) return parsed;
  return value.startsWith("+k8s:")
    ? { ...parsed, inner: parseMarker(value) }
    : { ...parsed, value: String(plainValue(value, "text")) };
}

function parseArguments(text: string, marker: string): Map<string, MarkerArgument> {
  const args = new Map<string, MarkerArgument>();
  argumentPattern.lastIndex = 0;
  while (argumentPattern.lastIndex < text.length) {
    const { name = "", value } = argumentPattern.exec(text)?.groups ?? {};
    if (value === undefined) throw new Error(`malformed arguments of marker ${marker}`);
    args.set(name, plainValue(value.trim(), "typed"));
  }
  return args;
}

/**
 * Parses quoted text and, in arguments, integers and booleans. Other text is returned unchanged.
 */
function plainValue(text: string, mode: "text" | "typed"): MarkerArgument {
  if (text.startsWith('"')) return JSON.parse(text);
  if (mode === "typed" && (text === "true" || text === "false")) return text === "true";
  return mode === "typed" && /^-?\d+$/.test(text) ? Number(text) : text;
}
