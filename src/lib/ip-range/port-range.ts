/** A range of ports, both ends within: `30000-32767`, `30000+2767` or one port alone. Source: apimachinery's util/net. */

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const portMax = 65535;
const shape = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/;

/** @returns what is wrong as text, in upstream's words where it has some */
export function parsePortRange(text: string): PortRange | string {
  const match = shape.exec(text.trim());
  if (match === null) return `unable to parse port range: ${text.trim()}`;
  const first = Number(match[1]);
  const other = match[3] === undefined ? first : Number(match[3]);
  const last = match[2] === "+" ? first + other : other;
  if (first > portMax || last > portMax) return `the port range cannot be greater than ${portMax}: ${text.trim()}`;
  if (last < first) return `end port cannot be less than start port: ${text.trim()}`;
  return { first, last };
}

export function formatPortRange({ first, last }: PortRange): string {
  return `${first}-${last}`;
}
