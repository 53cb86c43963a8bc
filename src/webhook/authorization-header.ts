/** The header Authorization of the calls of an endpoint. */
import type { Clock } from "../apimachinery/clock.ts";
import { readBoundedFile } from "../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { type WebhookEndpoint, WebhookError } from "./contract.ts";

const tokenFileMs = 60_000;

/**
 * Returns a function that returns the value of the header, or undefined. A token in a file is read
 * again after a minute. As client-go's cache, it keeps the last token when the file becomes
 * unreadable.
 */
export function authorizationOf(
  endpoint: Pick<WebhookEndpoint, "token" | "tokenFile" | "basic">,
  clock: Clock,
): () => Promise<string | undefined> {
  const { token, tokenFile, basic } = endpoint;
  const password = basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
  const headerOf = (bearer: string | undefined): string | undefined =>
    bearer === undefined ? password : `Bearer ${bearer}`;
  if (tokenFile === undefined) {
    const fixed = headerOf(token);
    return async () => fixed;
  }
  let current = token;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.now() - readAt < tokenFileMs) return headerOf(current);
    readAt = clock.now();
    current = await readToken(tokenFile, current);
    return headerOf(current);
  };
}

async function readToken(file: string, last: string | undefined): Promise<string> {
  try {
    const text = (await readBoundedFile(file)).toString().trim();
    if (text === "" && last === undefined)
      throw new WebhookError("connect", `read empty token from file ${quoteGo(file)}`);
    return text === "" ? (last as string) : text;
  } catch (error) {
    if (last !== undefined && error instanceof Error && "code" in error) return last;
    throw error;
  }
}
