/** Where a request comes from. Source: audit.k8s.io/v1 Event, `sourceIPs`; apimachinery's util/net. */
import { isIPv4, isIPv6 } from "node:net";
import type { Exchange } from "../http/contract.ts";

/** Addresses that are read of a header, which clients may make as long as headers may be. */
const forwardedMax = 64;

/** Those of X-Forwarded-For, X-Real-Ip unless it is among them, and the connection's own unless it is the last. */
export function sourceIps(exchange: Pick<Exchange, "header" | "remoteAddress">): string[] {
  const forwarded = exchange.header("x-forwarded-for");
  const ips = forwarded === undefined ? [] : forwarded.split(",", forwardedMax).flatMap(canonical);
  const real = exchange.header("x-real-ip");
  if (real !== undefined) for (const ip of canonical(real)) if (!ips.includes(ip)) ips.push(ip);
  for (const ip of canonical(exchange.remoteAddress)) if (ips.at(-1) !== ip) ips.push(ip);
  return ips;
}

/** @returns nothing where it is no address */
function canonical(text: string): string[] {
  const address = text.trim();
  if (isIPv4(address)) return [address];
  if (/^0*\d+(?:\.0*\d+){3}$/.test(address)) return canonical(address.replace(/(?<![\d])0+(?=\d)/g, "")); // Upstream reads leading zeros.
  if (!isIPv6(address) || address.includes("%")) return [];
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return [mapped];
  return [new URL(`http://[${address}]`).hostname.slice(1, -1)];
}
