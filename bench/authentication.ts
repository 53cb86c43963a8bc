/**
 * `npm run bench -- --authentication`: CPU time of authenticating tokens and client certificates,
 * the first time and from the cache, and the memory that 10,000 different tokens use.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../src/apimachinery/clock.ts";
import { clientCertificateAuthenticator } from "../src/authentication/client-certificate.ts";
import { readAuthenticationConfiguration } from "../src/authentication/configuration/configuration.ts";
import { validateConfiguration } from "../src/authentication/configuration/validate.ts";
import type { AuthenticationNotes, TokenAuthenticator } from "../src/authentication/contract.ts";
import {
  type JwtAuthenticators,
  jwtAuthenticators,
  signingAlgorithms,
} from "../src/authentication/oidc/jwt-authenticators.ts";
import { tokenClaims } from "../src/authentication/service-account/claims.ts";
import { type TokenIssuer as AccountIssuer, tokenIssuer } from "../src/authentication/service-account/issuer.ts";
import { readSigningKey, staticKeys } from "../src/authentication/service-account/keys.ts";
import type { LiveObjects } from "../src/authentication/service-account/live-objects.ts";
import { serviceAccountTokens } from "../src/authentication/service-account/token.ts";
import { tokenCache } from "../src/authentication/token-cache.ts";
import { peerOf } from "../src/http/listener/peer.ts";
import { parseAuthorities } from "../src/lib/x509/authorities.ts";
import type { Exchange } from "../src/request/exchange.ts";
import { createAuthority, issueCertificate } from "../src/server/serving/x509.ts";
import { issuerKey, startTokenIssuer, type TokenIssuer } from "../test/support/token-issuer.ts";

const tokensMeasured = 1000;
const askedAgain = 50_000;
const different = 10_000;
const audiences = ["https://api"];
const hour = 3_600_000;

export async function authenticationBench(): Promise<void> {
  const issuer = await startTokenIssuer([issuerKey("ec"), issuerKey("rsa", "RS256")]);
  const [ec, rsa] = issuer.keys;
  const account = accounts("ES256");
  const accountRsa = accounts("RS256");
  const claims = { sub: "ann", groups: ["devs", "ops"], email: "ann@example.com", email_verified: true };
  const withClaims = await openAuthenticators(issuer, byClaims);
  const withExpressions = await openAuthenticators(issuer, byExpressions);
  const rows: [what: string, authenticate: TokenAuthenticator, sign: () => Promise<string>][] = [
    ["service account, ES256", account.authenticate, account.sign],
    ["service account, RS256", accountRsa.authenticate, accountRsa.sign],
    ["OpenID Connect, ES256", withClaims.authenticate, () => issuer.sign({ ...claims, jti: randomUUID() }, {}, ec)],
    ["OpenID Connect, RS256", withClaims.authenticate, () => issuer.sign({ ...claims, jti: randomUUID() }, {}, rsa)],
    [
      "OpenID Connect, ES256, six expressions",
      withExpressions.authenticate,
      () => issuer.sign({ ...claims, jti: randomUUID() }, {}, ec),
    ],
  ];
  console.log(`${"CPU per request, µs".padEnd(42)}${"first".padStart(10)}${"known".padStart(10)}`);
  for (const [what, authenticate, sign] of rows) await tokenRow(what, authenticate, sign);
  await certificateRow();
  await memoryRow(withClaims.authenticate, () => issuer.sign({ ...claims, jti: randomUUID() }, {}, ec));
  withClaims.close();
  withExpressions.close();
  await issuer.close();
}

async function tokenRow(what: string, authenticate: TokenAuthenticator, sign: () => Promise<string>): Promise<void> {
  const ask = tokenCache(authenticate, { clock: systemClock, acceptedMs: hour, entriesMax: 2 * tokensMeasured });
  const tokens: string[] = [];
  for (let index = 0; index < 2 * tokensMeasured; index++) tokens.push(await sign());
  const all = async (some: readonly string[]): Promise<void> => {
    for (const token of some) await accepted(ask, token);
  };
  await all(tokens.slice(tokensMeasured)); // Warm-up.
  const first = await cpuOf(tokensMeasured, () => all(tokens.slice(0, tokensMeasured)));
  const [one = ""] = tokens;
  const again = (): void => {
    for (let index = 0; index < askedAgain; index++) ask(one, audiences);
  };
  again();
  print(what, first, await cpuOf(askedAgain, again));
}

async function accepted(ask: TokenAuthenticator, token: string): Promise<void> {
  const answer = await ask(token, audiences);
  if (answer === undefined || "problem" in answer) throw new Error(`rejected: ${answer?.problem}`);
}

function print(what: string, first: number, known: number): void {
  console.log(`${what.padEnd(42)}${first.toFixed(1).padStart(10)}${known.toFixed(2).padStart(10)}`);
}

/** @returns CPU microseconds per call, of this process with its threads */
async function cpuOf(count: number, run: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

interface Accounts {
  readonly authenticate: TokenAuthenticator;
  readonly sign: AccountSigner;
}
type AccountSigner = () => ReturnType<AccountIssuer["issue"]>;

/** One existing service account. */
function accounts(algorithm: "ES256" | "RS256"): Accounts {
  const pem = issuerKey("sa", algorithm).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const key = readSigningKey(pem, "bench");
  const url = "https://kubernetes.default.svc.cluster.local";
  const account = { name: "default", uid: randomUUID() };
  const live: LiveObjects = {
    find: () => ({ ...account, deletedAt: undefined }),
    read: () => undefined,
    waitUntilCurrent: async () => undefined,
  };
  const issuer = tokenIssuer(key, url);
  const grant = { namespace: "default", account, audiences, expirationSeconds: 3600 };
  return {
    sign: () => issuer.issue(tokenClaims({ ...grant, now: Date.now(), jti: randomUUID() })),
    authenticate: serviceAccountTokens({
      keys: staticKeys([key.public]),
      issuers: [url],
      apiAudiences: audiences,
      lookup: true,
      live,
      clock: systemClock,
    }),
  };
}

const byClaims = {
  claimMappings: { username: { claim: "sub", prefix: "idp:" }, groups: { claim: "groups", prefix: "idp:" } },
};
const byExpressions = {
  claimMappings: {
    username: { expression: "'idp:' + claims.email" },
    groups: { expression: "claims.groups" },
    uid: { expression: "claims.sub" },
    extra: [{ key: "example.com/sub", valueExpression: "claims.sub" }],
  },
  claimValidationRules: [{ expression: "claims.email_verified == true" }],
  userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
};

async function openAuthenticators(issuer: TokenIssuer, mapping: object): Promise<JwtAuthenticators> {
  const one = { issuer: { url: issuer.url, certificateAuthority: issuer.ca, audiences: ["coxswain"] }, ...mapping };
  const file = JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [one],
  });
  const configuration = readAuthenticationConfiguration(Buffer.from(file));
  const { authenticators } = validateConfiguration(configuration, {
    disallowedIssuers: [],
    egressSelectorAllowed: false,
  });
  const made = jwtAuthenticators(authenticators, {
    algorithms: signingAlgorithms,
    clock: systemClock,
    logger: { info() {}, warn: console.warn, error: console.error },
    dialOf() {
      throw new Error("no issuer names a type of egress");
    },
  });
  await made.ready;
  return made;
}

/** Measures a connection without its handshake, and each request on it. */
async function certificateRow(): Promise<void> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
  const authority = await createAuthority({ subject: { commonName: "users" }, ...validity });
  const serving = await issueCertificate(authority, {
    subject: { commonName: "server" },
    usage: "server",
    names: ["127.0.0.1"],
    ...validity,
  });
  const subject = { commonName: "ann", organizations: ["devs"] };
  const client = await issueCertificate(authority, { subject, usage: "client", names: [], ...validity });
  const server = tls.createServer({ ...serving, ca: authority.cert, requestCert: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = tls.connect({ port, host: "127.0.0.1", ca: authority.cert, ...client });
  const [peer] = (await once(server, "secureConnection")) as [tls.TLSSocket];
  const authorities = parseAuthorities(authority.cert);
  const authenticate = clientCertificateAuthenticator({ authorities: () => authorities, uids: false });
  const notes: AuthenticationNotes = { warnings: [], annotations: undefined };
  const request = (): Exchange => ({ peerCertificate: peerOf(peer, systemClock).certificate }) as Exchange;
  const connections = (): void => {
    for (let index = 0; index < tokensMeasured; index++) authenticate(request(), notes);
  };
  connections();
  const first = await cpuOf(tokensMeasured, connections);
  const known = request();
  const requests = (): void => {
    for (let index = 0; index < askedAgain; index++) authenticate(known, notes);
  };
  requests();
  print("client certificate, by connection", first, await cpuOf(askedAgain, requests));
  socket.destroy();
  peer.destroy();
  server.close();
}

async function memoryRow(authenticate: TokenAuthenticator, sign: () => Promise<string>): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const ask = tokenCache(authenticate, { clock: systemClock });
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const before = held();
  for (let index = 0; index < different; index++) await accepted(ask, await sign());
  console.log(`${different} different tokens leave ${(held() - before).toFixed(1)} MiB`);
  ask("", audiences); // Keeps the cache alive.
}
