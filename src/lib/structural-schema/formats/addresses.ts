/**
 * Formats of network addresses, as Go's package net parses them. Source: k8s.io/kube-openapi, pkg/validation/strfmt;
 * k8s.io/utils/net, ParseIPSloppy.
 */
import { parseIp, parsePrefix } from "../../ip-range/ip-address.ts";
import { ipVersion } from "../../ip-range/ip-version.ts";

/** Whether the text is an IPv4 address, or an IPv6 address with a dotted part. Leading zeros are allowed. */
export function isIpv4Format(text: string): boolean {
  return text.includes(".") && parseIp(text) !== undefined;
}

/** Whether the text is an IPv6 address without a zone. */
export function isIpv6Format(text: string): boolean {
  return !text.includes("%") && ipVersion(text) === 6;
}

/** Whether the text is an IP address with a prefix length. Leading zeros are allowed. */
export function isCidr(text: string): boolean {
  return parsePrefix(text) !== undefined;
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
