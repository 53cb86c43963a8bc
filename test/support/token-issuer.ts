/** A token issuer over TLS on loopback whose keys and documents tests can change. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { startWebhookServer, type WebhookReply, type WebhookServer } from "./webhook-server.ts";

export interface IssuerKey {
  readonly id: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface TokenIssuer {
  readonly url: string;
  /** PEM of its certificate authority. */
  readonly ca: string;
  readonly server: WebhookServer;
  /** The published keys; the first one signs. */
  keys: IssuerKey[];
  /** Responses that replace documents, by path. */
  readonly replies: Map<string, WebhookReply>;
  /** How often a path was requested. */
  asked(path: string): number;
  /**
   * @param claims override valid ones of the subject `ann` and the audience `coxswain`
   * @param header overrides the valid one
   */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: IssuerKey): Promise<string>;
  close(): Promise<void>;
}

export const discoveryPath = "/.well-known/openid-configuration";
export const keysPath = "/keys";

const curves: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

export function issuerKey(id: string, algorithm = "ES256"): IssuerKey {
  const namedCurve = curves[algorithm];
  const pair =
    namedCurve === undefined
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve });
  return { id, algorithm, ...pair };
}

/** The key as the issuer publishes it. */
export function publishedKey({ id, algorithm, publicKey }: IssuerKey): object {
  return { ...publicKey.export({ format: "jwk" }), kid: id, alg: algorithm, use: "sig" };
}

/** @param now the time of the tokens in milliseconds since 1970 */
export async function startTokenIssuer(
  keys: IssuerKey[] = [issuerKey("1")],
  now: () => number = Date.now,
): Promise<TokenIssuer> {
  const replies = new Map<string, WebhookReply>();
  const server = await startWebhookServer(({ path }) => {
    const reply = replies.get(path);
    if (reply !== undefined) return reply;
    if (path === discoveryPath) return { issuer: server.url, jwks_uri: `${server.url}${keysPath}` };
    if (path === keysPath) return { keys: issuer.keys.map(publishedKey) };
    return notFound;
  });
  const issuer: TokenIssuer = {
    url: server.url,
    ca: server.ca,
    server,
    keys,
    replies,
    asked: (path) => server.requests.filter((request) => request.path === path).length,
    sign(claims = {}, header = {}, key = issuer.keys[0] as IssuerKey) {
      const seconds = Math.floor(now() / 1000);
      const all = { iss: server.url, aud: "coxswain", sub: "ann", iat: seconds, exp: seconds + 600, ...claims };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(given).setProtectedHeader({ alg: key.algorithm, kid: key.id, ...header }).sign(key.privateKey);
    },
    close: () => server.close(),
  };
  return issuer;
}

const notFound: WebhookReply = (response) => response.writeHead(404).end("nothing here");
