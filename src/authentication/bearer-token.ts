/** Tokens of the header `Authorization` and of WebSockets' sub-protocols. Source: access-control §5.2; apiserver's bearertoken and websocket. */
import type { Exchange } from "../http/contract.ts";
import type { Authenticated, AuthenticationNotes, Authenticator, TokenAnswer, TokenAuthenticator } from "./contract.ts";

const spaceWarning = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/** @param audiences of this server, at least one */
export function bearerTokenAuthenticator(
  authenticate: TokenAuthenticator,
  audiences: readonly string[],
): Authenticator {
  return (exchange, notes) => {
    const token = headerToken(exchange, notes.warnings) ?? webSocketToken(exchange);
    if (token === undefined || token === "refused") return token;
    const answer = authenticate(token.text, audiences);
    return answer instanceof Promise
      ? answer.then((found) => authenticated(found, notes))
      : authenticated(answer, notes);
  };
}

function authenticated(answer: TokenAnswer, notes: AuthenticationNotes): Authenticated {
  if (answer?.annotations !== undefined) notes.annotations = answer.annotations;
  if (answer === undefined || "problem" in answer) return "refused";
  if (answer.warnings !== undefined) notes.warnings.push(...answer.warnings);
  return answer.user;
}

type Found = { readonly text: string } | "refused" | undefined;

/** Other schemes than Bearer are not for us: their request is as good as one without. */
function headerToken(exchange: Exchange, warnings: string[]): Found {
  const header = exchange.header("authorization");
  if (header === undefined) return undefined;
  const [scheme = "", token, ...rest] = header.trim().split(" ");
  if (token === undefined || scheme.toLowerCase() !== "bearer") return undefined;
  if (token !== "") return { text: token };
  if (rest.length > 0) warnings.push(spaceWarning);
  return undefined;
}

function webSocketToken({ webSocket }: Exchange): Found {
  const [encoded, ...more] = webSocket?.bearerTokens ?? [];
  if (encoded === undefined) return undefined;
  // Anything but plain base64url without padding would be read as something else.
  if (more.length > 0 || !/^[A-Za-z0-9_-]+$/.test(encoded) || encoded.length % 4 === 1) return "refused";
  const bytes = Buffer.from(encoded, "base64url");
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { text } : "refused";
}
