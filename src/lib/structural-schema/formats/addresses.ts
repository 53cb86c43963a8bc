/** Formats of network and email addresses, as Go's packages net and net/mail parse them. */

/** Allows leading zeros, also within an IPv6 address. Source: k8s.io/utils/net, ParseIPSloppy */
function isSloppyIp(text: string): boolean {
  return text.includes(":") ? isIpv6(withoutZeros(text)) : isIpv4(withoutZeros(text));
}

/** Whether the text is an IPv4 address, or an IPv6 address with a dotted part. */
export function isIpv4Format(text: string): boolean {
  return text.includes(".") && isSloppyIp(text);
}

/** Whether the text is an IPv6 address without a zone. */
export function isIpv6Format(text: string): boolean {
  return text.includes(":") && isIpv6(text);
}

/** Whether the text is an IP address with a prefix length. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash === -1) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  return isSloppyIp(address) && /^[0-9]{1,6}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32);
}

/**
 * Removes leading zeros from the dotted part, the only part where older versions of Go allowed
 * them.
 */
function withoutZeros(text: string): string {
  const start = text.lastIndexOf(":") + 1;
  const tail = text.slice(start);
  return tail.includes(".") ? text.slice(0, start) + tail.replace(/(^|\.)0+(?=[0-9])/g, "$1") : text;
}

const isIpv4 = (text: string): boolean => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);

function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const dotted = last?.includes(".") === true && !text.endsWith("::");
  if (dotted && !isIpv4(last as string)) return false;
  const plain = dotted ? groups.slice(0, -1) : groups;
  const count = groups.length + (dotted ? 1 : 0);
  return plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}

/** Whether the text is a MAC address: 6, 8 or 20 bytes with the same separator throughout. */
export function isMac(text: string): boolean {
  if (/^[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2})*)$/.test(text))
    return [17, 23, 59].includes(text.length);
  return /^[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4})+$/.test(text) && [14, 19, 49].includes(text.length);
}

const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

/** Whether the text is a hostname by the rules of strfmt. */
export function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || !hostname.test(text)) return false;
  return text.split(".").every((part) => Buffer.byteLength(part) <= 63);
}

const atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\u{10ffff}]+";
const dotAtom = `${atom}(?:\\.${atom})*`;
const quoted = '"(?:[^"\\\\\\u0000-\\u0008\\u000a-\\u001f\\u007f]|\\\\[\\t -~\\u0080-\\u{10ffff}])*"';
const literal = "\\[[!-Z^-~]*\\]";
const addrSpec = `(?:${dotAtom}|${quoted})[ \\t]*@[ \\t]*(?:${dotAtom}|${literal})`;
const word = `(?:${dotAtom}\\.?|${quoted})`;
const bareAddress = new RegExp(`^[ \\t]*${addrSpec}[ \\t]*(?:\\([^()]*\\)[ \\t]*)?$`, "u");
const namedAddress = new RegExp(
  `^[ \\t]*(?:${word}[ \\t]*)*<[ \\t]*${addrSpec}[ \\t]*>[ \\t]*(?:\\([^()]*\\)[ \\t]*)?$`,
  "u",
);

/**
 * Longer than any real address. The patterns take more than linear time, so longer text is
 * rejected.
 */
const emailCharactersMax = 1000;

/**
 * Whether the text is one email address, with or without a display name.
 * Source: RFC 5322 as Go's mail.ParseAddress reads it, without nested comments
 */
export function isEmail(text: string): boolean {
  if (text.length > emailCharactersMax || text.includes('""@')) return false;
  return bareAddress.test(text) || (text.includes("<") && namedAddress.test(text));
}
