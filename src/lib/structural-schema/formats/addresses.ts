/** Formats of network addresses, as Go's package net parses them. */
import { isIpv4, isIpv6 } from "./ip-text.ts";

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

/** Whether the text is a MAC address: 6, 8 or 20 bytes with the same separator throughout. */
export function isMac(text: string): boolean {
  if (/^[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2})*)$/.test(text))
    return [17, 23, 59].includes(text.length);
  return /^[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4})+$/.test(text) && [14, 19, 49].includes(text.length);
}

/** Bounded: `isHostname` matches at most 255 bytes. */
const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

/** Whether the text is a hostname by the rules of strfmt. */
export function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || !hostname.test(text)) return false;
  return text.split(".").every((part) => Buffer.byteLength(part) <= 63);
}
