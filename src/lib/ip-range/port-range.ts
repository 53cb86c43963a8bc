import { quoteGo } from "../json/quote.ts";

/** A range of ports, with both ends. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const portMax = 65535;
const shape = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/;

/**
 * Parses `30000-32767`, `30000+2767` or a single port.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/net/port_range.go
 * @returns the range, or an error message, which is upstream's if it has one
 */
export function parsePortRange(text: string): PortRange | string {
  const match = shape.exec(text.trim());
  if (match === null) return problemOf(text.trim());
  const first = Number(match[1]);
  const other = match[3] === undefined ? first : Number(match[3]);
  const last = match[2] === "+" ? first + other : other;
  if (first > portMax || last > portMax) return `the port range cannot be greater than ${portMax}: ${text.trim()}`;
  if (last < first) return `end port cannot be less than start port: ${text.trim()}`;
  return { first, last };
}

function problemOf(text: string): string {
  if (text.includes("-") && text.includes("+")) return `unable to parse port range: ${text}`;
  const sign = Math.max(text.indexOf("-"), text.indexOf("+"));
  const ports = sign < 0 ? [text] : [text.slice(0, sign), text.slice(sign + 1)];
  const wrong = ports.find((port) => !/^\d+$/.test(port));
  if (wrong !== undefined) return `strconv.Atoi: parsing ${quoteGo(wrong)}: invalid syntax`;
  const huge = ports.find((port) => Number(port) >= 2 ** 63);
  if (huge !== undefined) return `strconv.Atoi: parsing ${quoteGo(huge)}: value out of range`;
  return `the port range cannot be greater than ${portMax}: ${text}`;
}

/** Formats a range of ports. */
export function formatPortRange({ first, last }: PortRange): string {
  return `${first}-${last}`;
}
