/** The source addresses of a request. Source: k8s.io/apimachinery@v0.36.0/pkg/util/net/http.go. */
import { isIPv4 } from "node:net";
import { ipVersion } from "../lib/ip-range/ip-version.ts";
import { trimStartOf } from "../lib/text/trim.ts";
import type { Exchange } from "../request/exchange.ts";

/** The maximum number of addresses read from X-Forwarded-For, whose length the client controls. */
const forwardedMax = 64;

/**
 * Lists the addresses of X-Forwarded-For, X-Real-Ip unless already listed, and the connection
 * unless it is the last one.
 */
export function sourceIps(exchange: Pick<Exchange, "header" | "remote">): string[] {
  const forwarded = exchange.header("x-forwarded-for");
  const ips = forwarded === undefined ? [] : forwarded.split(",", forwardedMax).flatMap(canonical);
  const real = exchange.header("x-real-ip");
  if (real !== undefined) for (const ip of canonical(real)) if (!ips.includes(ip)) ips.push(ip);
  for (const ip of canonical(exchange.remote.address)) if (ips.at(-1) !== ip) ips.push(ip);
  return ips;
}

/** @returns the canonical form, or an empty list for text that is not an address */
function canonical(text: string): string[] {
  const address = text.trim();
  if (isIPv4(address)) return [address];
  // Upstream accepts leading zeros.
  if (/^\d+(?:\.\d+){3}$/.test(address)) {
    const plain = address
      .split(".")
      .map((part) => trimStartOf(part, "0") || "0")
      .join(".");
    return isIPv4(plain) ? [plain] : [];
  }
  if (ipVersion(address) !== 6 || address.includes("%")) return [];
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return [mapped];
  return [new URL(`http://[${address}]`).hostname.slice(1, -1)];
}
