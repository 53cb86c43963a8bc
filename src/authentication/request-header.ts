/**
 * Authenticates by the headers of a proxy.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/request/headerrequest/requestheader.go.
 */
import { headerKey, headerText } from "../apimachinery/header-text.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { Exchange } from "../request/exchange.ts";
import type { Authenticator, RequestHeaderOptions } from "./contract.ts";

/**
 * Accepts headers only from clients with a certificate of a trusted authority and an allowed common
 * name.
 *
 * @param authorities returns the current trusted authorities
 */
export function requestHeaderAuthenticator(
  options: RequestHeaderOptions,
  authorities: () => Authorities,
): Authenticator {
  const read = userReader(options);
  const allowed = new Set(options.allowedNames);
  return ({ peerCertificate, rawHeaders }: Exchange) => {
    if (peerCertificate === undefined) return undefined;
    if (!peerCertificate.isTrustedBy(authorities())) return "rejected";
    if (allowed.size > 0 && !allowed.has(peerCertificate.commonName)) return "rejected";
    return read(rawHeaders);
  };
}

/**
 * @returns a function that reads the user from headers; its result is undefined when no header
 *   contains a user name
 */
export function userReader(
  options: RequestHeaderOptions,
): (rawHeaders: Exchange["rawHeaders"]) => UserInfo | undefined {
  const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());
  const usernames = lower(options.usernameHeaders);
  const uids = lower(options.uidHeaders);
  const groups = lower(options.groupHeaders);
  const prefixes = lower(options.extraHeaderPrefixes);
  return (rawHeaders) => {
    const lines = linesOf(rawHeaders);
    const name = firstValue(lines, usernames);
    if (name === "") return undefined;
    return {
      name,
      uid: firstValue(lines, uids),
      groups: groups.flatMap((group) => valuesOf(lines, group).filter((value) => value !== "")),
      extra: extrasOf(lines, prefixes),
    };
  };
}

/** A header with its name in lower case. */
type Line = readonly [name: string, value: string];

function linesOf(rawHeaders: readonly string[]): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push([(rawHeaders[at] as string).toLowerCase(), headerText(rawHeaders[at + 1] as string)]);
  return lines;
}

function valuesOf(lines: readonly Line[], name: string): string[] {
  return lines.filter(([lineName]) => lineName === name).map(([, value]) => value);
}

/** @returns the first line of the first header whose first line is not empty */
function firstValue(lines: readonly Line[], names: readonly string[]): string {
  for (const name of names) {
    const [value = ""] = valuesOf(lines, name);
    if (value !== "") return value;
  }
  return "";
}

function extrasOf(lines: readonly Line[], prefixes: readonly string[]): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const [name, value] of lines) {
      if (!name.startsWith(prefix)) continue;
      const key = headerKey(name.slice(prefix.length));
      const values = extra.get(key);
      if (values === undefined) extra.set(key, [value]);
      else values.push(value);
    }
  }
  return extra;
}
