/**
 * Opens an external signer of service account tokens: `--service-account-signing-endpoint`.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/options/options.go and
 * pkg/serviceaccount/externaljwt/plugin/plugin.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { internalError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { CallError } from "../../lib/grpc/socket-client.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { SignerObserver } from "../contract.ts";
import type { VerificationKeys } from "../service-account/keys.ts";
import { type SignerClient, signerClient, within } from "./client.ts";
import { KeyCache, keyIdBytesMax } from "./key-cache.ts";

interface ExternalSignerOptions {
  readonly issuer: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: SignerObserver;
}

/** A signer that has answered. */
export interface ExternalSigner {
  readonly keys: VerificationKeys;
  /** The longest lifetime of a token, at least ten minutes. */
  readonly maxExpirationSeconds: number;
  /** @param claims all claims except the issuer. @throws ApiError 500 with upstream's message */
  sign(claims: Record<string, unknown>): Promise<string>;
  close(): void;
}

const metadataTimeoutMs = 10_000;
/** Upstream's limit of requests that write. */
const signTimeoutMs = 34_000;
const expirationSecondsMin = 600;
const lead = "while setting up external-jwt-signer";

/**
 * Waits for the signer, its keys and its metadata.
 *
 * @throws Error with upstream's message
 */
export async function openExternalSigner(
  endpoint: string,
  { issuer, clock, logger, observer }: ExternalSignerOptions,
): Promise<ExternalSigner> {
  const client = signerClient(endpoint, observer);
  const keys = new KeyCache({ client, clock, logger, observer });
  const close = (): void => {
    keys.close();
    client.close();
  };
  try {
    const maxExpirationSeconds = await setUp(client, keys);
    const sign: ExternalSigner["sign"] = (claims) => signWith({ client, keys, observer }, { ...claims, iss: issuer });
    return { keys, maxExpirationSeconds, sign, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** @returns the longest lifetime of a token in seconds */
async function setUp(client: SignerClient, keys: KeyCache): Promise<number> {
  await within(`${lead}: while initially filling key cache: while performing initial cache fill`, keys.start());
  const { maxTokenExpirationSeconds: seconds } = await within(lead, client.metadata(metadataTimeoutMs));
  if (seconds >= expirationSecondsMin) return seconds;
  throw new Error(
    `max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${expirationSecondsMin}s)`,
  );
}

interface Signing {
  readonly client: SignerClient;
  readonly keys: KeyCache;
  readonly observer: SignerObserver;
}

async function signWith({ client, keys, observer }: Signing, claims: Record<string, unknown>): Promise<string> {
  const payload = Buffer.from(encodeSorted(claims)).toString("base64url");
  try {
    const { header, signature } = await within("while signing jwt", client.sign({ claims: payload }, signTimeoutMs));
    const problem = await headerProblem(header, keys);
    if (problem !== undefined) throw new CallError(`while validating header: ${problem}`);
    if (signature === "") throw new CallError("empty signature returned");
    observer.signed("OK");
    return `${header}.${payload}.${signature}`;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    observer.signed(error.code);
    throw internalError(`failed to generate token: ${error.message}`);
  }
}

const headerMembers = ["alg", "kid", "typ"];

async function headerProblem(encoded: string, keys: KeyCache): Promise<string | undefined> {
  const header = readHeader(encoded);
  if (typeof header === "string") return header;
  const { alg = "", kid = "", typ = "" } = header;
  if (typ !== "JWT") return "bad type";
  if (kid === "") return "key id missing";
  if (Buffer.byteLength(kid) > keyIdBytesMax) return "key id longer than 1 kb";
  if (!["RS256", "ES256", "ES384", "ES512"].includes(alg)) return `bad signing algorithm ${quoteGo(alg)}`;
  return (await keys.isExcluded(kid))
    ? `key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`
    : undefined;
}

/** @returns a problem if the header is not an object of the known texts */
function readHeader(encoded: string): Record<string, string> | string {
  if (!/^[\w-]*$/.test(encoded)) return "while unwrapping header: illegal base64 data";
  try {
    const sent: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    const header = sent ?? {};
    if (typeof header !== "object") return "while parsing header JSON: not an object";
    const unknown = Object.keys(header).find((name) => !headerMembers.includes(name));
    if (unknown !== undefined) return `while parsing header JSON: json: unknown field ${quoteGo(unknown)}`;
    if (Object.values(header).some((value) => typeof value !== "string"))
      return "while parsing header JSON: not a text";
    return header as Record<string, string>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "while parsing header JSON: invalid JSON";
  }
}
