/**
 * The users that upstream's code and this server read from unusual client certificates in a handshake.
 * The rows were made by tools/golden/client-certificates (`node make.ts | go run . >
 * …/client-certificates.jsonl`).
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import tls from "node:tls";
import { systemClock } from "../../apimachinery/clock.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { clientCertificateAuthenticator } from "../../authentication/client-certificate.ts";
import { type Authorities, parseAuthorities } from "../../lib/x509/authorities.ts";
import { createCertificates } from "../../server/serving/certificates.ts";
import { type Listener, listen } from "./listen.ts";
import type { ServingCertificate } from "./secure-contexts.ts";

interface Row {
  readonly what: string;
  readonly roots: string;
  readonly chain: string;
  readonly key: string;
  readonly user?: {
    readonly name: string;
    readonly uid: string;
    readonly groups: string[];
    readonly extra: Record<string, string[]>;
  };
}

/**
 * Certificates that only OpenSSL rejects: the extended key usage `any` does not include clients, and
 * the key of a client must be for signatures.
 */
const stricter: readonly string[] = [
  "for any use",
  "by an authority for any use",
  "whose key may not sign",
  "the root's own",
];

/** Upstream goes on to the anonymous user. */
const withoutName: readonly string[] = ["no common name", "an empty subject"];

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, "testdata/client-certificates.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

let listener: Listener;
let serving: ServingCertificate;
let authorities: Authorities;
let found: UserInfo | "rejected" | undefined;
before(async () => {
  serving = (await createCertificates({ now: Date.now(), names: ["127.0.0.1"] })).serving;
  const authenticate = clientCertificateAuthenticator({ authorities: () => authorities, uids: true });
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: serving, named: [], clientCa: undefined },
    onExchange(exchange) {
      found = authenticate(exchange, { warnings: [], annotations: undefined }) as typeof found;
      exchange.respond(200, {});
    },
    acceptsUpgrade: () => false,
    clock: systemClock,
    logger: { info() {}, warn() {}, error() {} },
  });
});
after(() => listener.close());

for (const row of rows) {
  const { what, roots, chain, key, user } = row;
  const rejected = Object.hasOwn(row, "refused");
  test(`client certificates: ${what}`, async () => {
    authorities = parseAuthorities(roots);
    listener.replaceCertificates({ certificate: serving, named: [], clientCa: roots });
    found = undefined;
    const socket = tls.connect({
      host: "127.0.0.1",
      port: listener.port,
      cert: chain,
      key,
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: false,
    });
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    socket.resume();
    await once(socket, "close");
    if (rejected || [...stricter, ...withoutName].includes(what)) return assert.equal(found, "rejected");
    const we =
      found === undefined || found === "rejected"
        ? found
        : { ...(found as UserInfo), extra: Object.fromEntries((found as UserInfo).extra) };
    assert.deepEqual(we, user);
  });
}
