/**
 * Bearer tokens in the header `Authorization` or in a WebSocket subprotocol.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/request/bearertoken/bearertoken.go and
 * request/websocket/protocol.go.
 */
import { requestedWebSocket } from "../apimachinery/web-socket-protocols.ts";
import type { Exchange } from "../request/exchange.ts";
import type { Authenticated, AuthenticationNotes, Authenticator, TokenAnswer, TokenAuthenticator } from "./contract.ts";

const spaceWarning = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/**
 * @param audiences the audiences of this server, at least one
 * @returns the authenticators of requests with a bearer token: in a header, and in a subprotocol
 */
export function bearerTokenAuthenticators(
  authenticate: TokenAuthenticator,
  audiences: readonly string[],
): Authenticator[] {
  return [headerToken, webSocketToken].map((find) => (exchange, notes) => {
    const token = find(exchange, notes);
    if (token === undefined || token === "rejected") return token;
    const answer = authenticate(token.text, audiences);
    return answer instanceof Promise
      ? answer.then((found) => authenticated(found, notes))
      : authenticated(answer, notes);
  });
}

function authenticated(answer: TokenAnswer, notes: AuthenticationNotes): Authenticated {
  if (answer?.annotations !== undefined) notes.annotations = answer.annotations;
  if (answer === undefined || "problems" in answer) return "rejected";
  if (answer.warnings !== undefined) notes.warnings.push(...answer.warnings);
  return answer.user;
}

type FoundToken = { readonly text: string } | "rejected" | undefined;

/** Ignores other schemes than Bearer. */
function headerToken(exchange: Exchange, { warnings }: AuthenticationNotes): FoundToken {
  const header = exchange.header("authorization");
  if (header === undefined) return undefined;
  const [scheme = "", token, ...rest] = header.trim().split(" ");
  if (token === undefined || scheme.toLowerCase() !== "bearer") return undefined;
  if (token !== "") return { text: token };
  if (rest.length > 0) warnings.push(spaceWarning);
  return undefined;
}

/** A client that sends a token must offer another subprotocol, because the server does not select the token. */
function webSocketToken(exchange: Exchange): FoundToken {
  const { protocols = [], bearerTokens: [encoded, ...more] = [] } = requestedWebSocket(exchange) ?? {};
  if (encoded === undefined) return undefined;
  // Buffer.from ignores characters outside of the alphabet, so check them first.
  if (more.length > 0 || !/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) return "rejected";
  const bytes = Buffer.from(encoded, "base64url");
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return "rejected";
  if (text === "") return undefined;
  return protocols.length === 0 ? "rejected" : { text };
}
