/** What clients ask for in `Sec-WebSocket-Protocol`. */
import type { WebSocketRequest } from "../contract.ts";

/** Browsers cannot set `Authorization` on a WebSocket; upstream takes a token from here. */
const bearerPrefix = "base64url.bearer.authorization.k8s.io.";

export function webSocketProtocols(header = ""): Pick<WebSocketRequest, "protocols" | "bearerTokens"> {
  if (header.trim() === "") return { protocols: [], bearerTokens: [] };
  const names = header.split(",").map((name) => name.trim());
  return {
    protocols: names.filter((name) => !name.startsWith(bearerPrefix)),
    bearerTokens: names.filter((name) => name.startsWith(bearerPrefix)).map((name) => name.slice(bearerPrefix.length)),
  };
}
