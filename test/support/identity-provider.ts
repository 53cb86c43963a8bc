/**
 * An OpenID Connect provider over TLS on loopback: accounts log in by the authorization code flow
 * and get ID tokens.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { type Configuration, type JWK, Provider } from "oidc-provider";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";

export interface IdentityProvider {
  readonly url: string;
  /** PEM of its certificate authority. */
  readonly ca: string;
  /** Logs in. @returns the ID token */
  login(account: string): Promise<string>;
  /** Replaces the signing key; the old key is no longer published. */
  rotateKeys(): void;
  /** How often a path was requested. */
  asked(path: string): number;
  close(): Promise<void>;
}

/** Additional claims by account. */
export type Accounts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const clientId = "kubernetes";
const clientSecret = "the secret of the client";
/** No server listens there: the code is read from the redirect. */
const callback = "https://client.example/callback";

const hour = 3_600_000;

export async function startIdentityProvider(accounts: Accounts): Promise<IdentityProvider> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
  const authority = await createAuthority({ subject: { commonName: "identity provider" }, ...validity });
  const pair = await issueCertificate(authority, {
    subject: { commonName: "idp" },
    usage: "server",
    names: ["127.0.0.1"],
    ...validity,
  });
  const paths: string[] = [];
  const server = https.createServer(pair, (request, response) => {
    paths.push(request.url ?? "");
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let account = "";
  const newHandler = (): RequestListener => handlerOf(newProvider(url, accounts), () => account);
  let handler = newHandler();
  const agent = new https.Agent({ ca: authority.cert });
  return {
    url,
    ca: authority.cert,
    login(name) {
      account = name;
      return logIn(url, agent);
    },
    rotateKeys() {
      handler = newHandler();
    },
    asked: (path) => paths.filter((one) => one === path).length,
    close() {
      agent.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function newProvider(url: string, accounts: Accounts): Provider {
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const configuration: Configuration = {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    jwks: { keys: [{ ...key, kid: randomUUID(), use: "sig", alg: "RS256" } as JWK] },
    cookies: { keys: [randomUUID()] },
    claims: { openid: ["sub", ...new Set(Object.values(accounts).flatMap((claims) => Object.keys(claims)))] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => false },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts[sub] }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId ?? "" });
      grant.addOIDCScope("openid");
      await grant.save();
      return grant;
    },
    ttl: { IdToken: 600, Session: 600, Interaction: 600, Grant: 600, AccessToken: 600 },
  };
  return new Provider(url, configuration);
}

/** Finds the account that is logging in. */
function handlerOf(provider: Provider, account: () => string): RequestListener {
  const rest = provider.callback();
  return (request, response) => {
    if (request.url?.startsWith("/interaction/") !== true) return void rest(request, response);
    provider.interactionFinished(request, response, { login: { accountId: account() } }).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
}

async function logIn(url: string, agent: https.Agent): Promise<string> {
  const cookies = new Map<string, string>();
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    scope: "openid",
    redirect_uri: callback,
    nonce: randomUUID(),
  });
  let at = `${url}/auth?${query}`;
  while (!at.startsWith(callback)) {
    const { status, location, text } = await send(at, { agent, cookies });
    if (location === undefined) throw new Error(`${at}: ${status} ${text}`);
    at = new URL(location, at).href;
  }
  const form = {
    grant_type: "authorization_code",
    code: new URL(at).searchParams.get("code") ?? "",
    redirect_uri: callback,
  };
  const { text } = await send(`${url}/token`, { agent, cookies, form });
  return (JSON.parse(text) as { id_token: string }).id_token;
}

interface Sent {
  readonly agent: https.Agent;
  readonly cookies: Map<string, string>;
  readonly form?: Readonly<Record<string, string>>;
}

function send(
  url: string,
  { agent, cookies, form }: Sent,
): Promise<{ status: number; location: string | undefined; text: string }> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const secret = Buffer.from(`${clientId}:${encodeURIComponent(clientSecret)}`).toString("base64");
  const posted = { authorization: `Basic ${secret}`, "content-type": "application/x-www-form-urlencoded" };
  const headers = { ...(cookie !== "" && { cookie }), ...(form && posted) };
  return new Promise((resolve, reject) => {
    const request = https.request(url, { agent, headers, method: form === undefined ? "GET" : "POST" }, (response) => {
      for (const line of response.headers["set-cookie"] ?? []) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string];
        cookies.set(name, value);
      }
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location,
          text: Buffer.concat(pieces).toString(),
        }),
      );
    });
    request.on("error", reject);
    request.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}
