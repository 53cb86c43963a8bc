/** The header that marks requests of peers, which the receiver does not send to another peer. */
import type { Exchange } from "../../../request/exchange.ts";

const name = "x-kubernetes-peer-proxied";

/** Marks a request. */
export const peerHeader: Readonly<Record<string, string>> = { [name]: "true" };

/** Whether a request is marked. A client that marks its own requests gets only what this server serves. */
export function isFromPeer(exchange: Pick<Exchange, "rawHeaders">): boolean {
  const { rawHeaders } = exchange;
  return rawHeaders.some(
    (value, index) => index % 2 === 1 && value === "true" && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}
