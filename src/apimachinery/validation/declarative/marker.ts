/** Markers of declarative validation, as comments of Go types have them: `+k8s:alpha(since: "1.36")=+k8s:maxItems=32`. Source: gengo's codetags. */

export interface Marker {
  /** Without `+k8s:`. */
  readonly name: string;
  /** By name; one without a name under the empty text. */
  readonly args: ReadonlyMap<string, MarkerArgument>;
  /** What follows the equals sign: another marker, or plain text. */
  readonly inner?: Marker;
  readonly value?: string;
}

export type MarkerArgument = string | number | boolean;

const markerPattern = /^\+k8s:(?<name>[A-Za-z]+)(?:\((?<args>(?:"(?:[^"\\]|\\.)*"|[^")])*)\))?(?:=(?<value>.*))?$/s;
const argumentPattern = /\s*(?:(?<name>[A-Za-z_]\w*)\s*:\s*)?(?<value>"(?:[^"\\]|\\.)*"|[^",\s][^",]*)\s*(?:,|$)/y;

/** @throws Error where it is no marker: a mistake of the table */
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

/** Quoted text; of arguments also integers and booleans; all else is a bare word. */
function plainValue(text: string, mode: "text" | "typed"): MarkerArgument {
  if (text.startsWith('"')) return JSON.parse(text);
  if (mode === "typed" && (text === "true" || text === "false")) return text === "true";
  return mode === "typed" && /^-?\d+$/.test(text) ? Number(text) : text;
}
