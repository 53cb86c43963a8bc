/** OpenID Connect Discovery 1.0, with the error messages of github.com/coreos/go-oidc. */
import { quoteGo } from "../../lib/json/quote.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";

/**
 * Reads the discovery document.
 *
 * @returns the URL of the keys
 * @throws DocumentError when it is missing or invalid
 */
export async function discoverKeys(
  client: DocumentClient,
  { url, discoveryUrl }: { readonly url: string; readonly discoveryUrl: string },
): Promise<string> {
  const { status, headers, body } = await client.get(
    discoveryUrl === "" ? `${url.replace(/\/$/, "")}/.well-known/openid-configuration` : discoveryUrl,
  );
  if (status !== 200) throw new DocumentError(`${status}: ${excerpt(body)}`);
  const document = parseObject(body, headers["content-type"], "oidc: failed to decode provider discovery object");
  const { issuer, jwks_uri: keysUrl } = document;
  if (issuer !== url)
    throw new DocumentError(
      `oidc: issuer did not match the issuer returned by provider, expected ${quoteGo(url)} got ${quoteGo(textOf(issuer))}`,
    );
  if (typeof keysUrl !== "string" || keysUrl === "") throw new DocumentError("provider did not return JWKS URL");
  return keysUrl;
}

/** Parses a JSON object. @throws DocumentError for anything else */
export function parseObject(
  body: Buffer,
  contentType: string | undefined,
  problem: string,
): { readonly [name: string]: unknown } {
  const value = parseJson(body);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as { readonly [name: string]: unknown };
  throw new DocumentError(`${problem}: expected Content-Type = application/json, got ${quoteGo(contentType ?? "")}`);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const excerptLengthMax = 256;

/** @returns the start of a response body, for log lines */
export function excerpt(body: Buffer): string {
  return body.subarray(0, excerptLengthMax).toString();
}
