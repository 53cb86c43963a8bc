/**
 * Parsing and formatting of IP addresses and prefixes like Go's net/netip, with its error messages.
 */
import { quoteGo } from "../json/quote.ts";

/** An IP address. */
export interface Address {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly bits: bigint;
  /** The text after `%`, or empty. */
  readonly zone: string;
}

/** An address and the length of its network prefix. */
export interface Prefix {
  readonly address: Address;
  readonly length: number;
}

/** An invalid address or prefix, with Go's message. */
export class AddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressError";
  }
}

/** Returns the bits of an address: 32 or 128. */
export function widthOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** Parses an address. Source: Go, netip.ParseAddr. @throws AddressError */
export function parseAddress(text: string): Address {
  const [decisive] = /[.:%]/.exec(text) ?? [];
  if (decisive === ".") return { family: 4, bits: parseFields(text, text), zone: "" };
  if (decisive === ":") return parseSixteen(text);
  throw addressError(text, decisive === "%" ? "missing IPv6 address" : "unable to parse IP");
}

function addressError(text: string, why: string, at = ""): AddressError {
  return new AddressError(`ParseAddr(${quoteGo(text)}): ${why}${at === "" ? "" : ` (at ${quoteGo(at)})`}`);
}

/**
 * Parses four decimal fields.
 *
 * @param text the whole address, for messages
 * @param part the IPv4 part
 */
function parseFields(text: string, part: string): bigint {
  const fields: number[] = [];
  let digits = "";
  for (let at = 0; at < part.length; at++) {
    const character = part[at] as string;
    if (character >= "0" && character <= "9") {
      if (digits === "0") throw addressError(text, "IPv4 field has octet with leading zero");
      digits += character;
      if (Number(digits) > 255) throw addressError(text, "IPv4 field has value >255");
    } else if (character === ".") {
      if (digits === "" || at === part.length - 1)
        throw addressError(text, "IPv4 field must have at least one digit", part.slice(at));
      if (fields.length === 3) throw addressError(text, "IPv4 address too long");
      fields.push(Number(digits));
      digits = "";
    } else throw addressError(text, "unexpected character", part.slice(at));
  }
  if (fields.length < 3) throw addressError(text, "IPv4 address too short");
  return [...fields, Number(digits)].reduce((bits, field) => (bits << 8n) | BigInt(field), 0n);
}

/** Parses eight groups; `::` can replace one run of zeros, and IPv4 the last two groups. */
function parseSixteen(text: string): Address {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") throw addressError(text, "zone must be a non-empty string");
  const groups: number[] = [];
  let rest = percent < 0 ? text : text.slice(0, percent);
  let gap = -1;
  if (rest.startsWith("::")) {
    gap = 0;
    rest = rest.slice(2);
    if (rest === "") return { family: 6, bits: 0n, zone };
  }
  while (groups.length < 8) {
    const digits = groupOf(text, rest);
    if (rest[digits.length] === ".") {
      if (gap < 0 && groups.length !== 6)
        throw addressError(text, "embedded IPv4 address must replace the final 2 fields of the address", rest);
      if (groups.length > 6)
        throw addressError(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      const four = Number(parseFields(text, rest));
      groups.push(Math.floor(four / 65536), four % 65536);
      rest = "";
      break;
    }
    groups.push(Number.parseInt(digits, 16));
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (rest[0] !== ":") throw addressError(text, "unexpected character, want colon", rest);
    if (rest.length === 1) throw addressError(text, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest[0] !== ":") continue;
    if (gap >= 0) throw addressError(text, "multiple :: in address", rest);
    gap = groups.length;
    rest = rest.slice(1);
    if (rest === "") break;
  }
  if (rest !== "") throw addressError(text, "trailing garbage after address", rest);
  return { family: 6, bits: joinGroups(text, groups, gap), zone };
}

function groupOf(text: string, rest: string): string {
  const [digits] = /^[0-9A-Fa-f]*/.exec(rest) as RegExpExecArray;
  if (digits.length > 4) throw addressError(text, "each group must have 4 or less digits", rest);
  if (digits === "") throw addressError(text, "each colon-separated field must have at least one digit", rest);
  return digits;
}

function joinGroups(text: string, groups: readonly number[], gap: number): bigint {
  const missing = 8 - groups.length;
  if (missing > 0 && gap < 0) throw addressError(text, "address string too short");
  if (missing === 0 && gap >= 0) throw addressError(text, "the :: must expand to at least one field of zeros");
  const zeros = Array.from({ length: missing }, () => 0);
  const all = missing === 0 ? groups : [...groups.slice(0, gap), ...zeros, ...groups.slice(gap)];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

/** Whether an address is an IPv4-mapped IPv6 address, such as `::ffff:1.2.3.4`. */
export function isFourInSix({ family, bits }: Address): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

/** Returns the canonical text: lower case, with `::` for the longest run of zeros. */
export function formatAddress({ family, bits, zone }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, at) => Number((bits >> BigInt(112 - 16 * at)) & 0xffffn));
  const { start, length } = longestZeros(groups);
  const written = groups.map((group) => group.toString(16));
  const text =
    length < 2 ? written.join(":") : `${written.slice(0, start).join(":")}::${written.slice(start + length).join(":")}`;
  return zone === "" ? text : `${text}%${zone}`;
}

/** The first of the longest runs. */
function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}

/** Whether two addresses have the same family and the same first `length` bits. */
export function agree(left: Address, right: Address, length: number): boolean {
  const shift = BigInt(widthOf(left.family) - length);
  return left.family === right.family && left.bits >> shift === right.bits >> shift;
}

const int64Max = 2n ** 63n - 1n;

/** Parses a prefix. Source: Go, netip.ParsePrefix. @throws AddressError */
export function parsePrefix(text: string): Prefix {
  const slash = text.lastIndexOf("/");
  if (slash < 0) throw prefixError(text, "no '/'");
  const address = addressOf(text, text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]+)$/.test(digits) || digits.length > 19 || BigInt(digits) > int64Max)
    throw prefixError(text, `bad bits after slash: ${quoteGo(digits)}`);
  if (Number(digits) > widthOf(address.family)) throw prefixError(text, "prefix length out of range");
  return { address, length: Number(digits) };
}

function addressOf(text: string, part: string): Address {
  try {
    const address = parseAddress(part);
    if (address.zone === "") return address;
  } catch (error) {
    if (error instanceof AddressError) throw prefixError(text, error.message);
    throw error;
  }
  throw prefixError(text, "IPv6 zones cannot be present in a prefix");
}

function prefixError(text: string, why: string): AddressError {
  return new AddressError(`netip.ParsePrefix(${quoteGo(text)}): ${why}`);
}

/** Sets all bits after the prefix to zero. */
export function masked({ address, length }: Prefix): Prefix {
  const shift = BigInt(widthOf(address.family) - length);
  return { address: { ...address, bits: (address.bits >> shift) << shift }, length };
}
