import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import {
  anyUsage,
  clientAuth,
  type OddAuthority,
  oddCertificate,
  serverAuth,
} from "../../../test/support/odd-certificates.ts";
import { parseAuthorities, wayTo } from "./authorities.ts";
import { parseCertificates } from "./pem.ts";

const startMs = Date.UTC(2026, 0, 1);
const hourMs = 3600_000;
const during = (fromHour: number, toHour: number): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(startMs + fromHour * hourMs),
  notAfter: new Date(startMs + toHour * hourMs),
});
const named = (name: string) => ({ subject: [{ CN: [name] }], authority: {} });
const leafOf = (issuer: OddAuthority): Promise<OddAuthority> =>
  oddCertificate({ subject: [{ CN: ["leaf"] }], usages: [clientAuth], ...during(1, 9) }, issuer);

const root = await oddCertificate({ ...named("root"), ...during(0, 10) });
const other = await oddCertificate({ ...named("other"), ...during(0, 10) });
const middle = await oddCertificate({ ...named("middle"), ...during(2, 8) }, root);
const lower = await oddCertificate({ ...named("lower"), ...during(3, 20) }, middle);
/** The authority `other`, signed by `root`, and the reverse. */
const crossed = await oddCertificate({ ...named("other"), ...during(0, 10) }, root, other.keys);
const crossedBack = await oddCertificate({ ...named("root"), ...during(0, 10) }, other, root.keys);
/** Names `root` as its issuer, which did not sign it. */
const forger = { ...(await oddCertificate(named("root"))), cert: root.cert };
const forged = await oddCertificate({ ...named("middle"), ...during(0, 10) }, forger, middle.keys);
const forServers = await oddCertificate({ ...named("for servers"), usages: [serverAuth], ...during(0, 10) }, root);
const forAny = await oddCertificate({ ...named("for any"), usages: [anyUsage], ...during(0, 10) }, root);
const noAuthority = await oddCertificate(
  { subject: [{ CN: ["no authority"] }], usages: [clientAuth], ...during(0, 10) },
  root,
);
/** A new root certificate with the same key. */
const renewed = await oddCertificate({ ...named("root"), ...during(5, 30) }, undefined, root.keys);

const [ofRoot, ofMiddle, ofLower, ofOther, ofServers, ofAny, ofNone] = await Promise.all(
  [root, middle, lower, other, forServers, forAny, noAuthority].map(leafOf),
);

/** Hours of validity, or undefined without a chain. */
const rows: [
  what: string,
  authorities: OddAuthority[],
  leaf: OddAuthority | undefined,
  shown: OddAuthority[],
  expected: [number, number] | undefined,
][] = [
  ["a certificate of the authority", [root], ofRoot, [], [1, 9]],
  ["a certificate of another authority", [other], ofRoot, [], undefined],
  ["a certificate of one of several authorities", [other, root], ofRoot, [], [1, 9]],
  ["the client presents the authority too", [root], ofRoot, [root], [1, 9]],
  ["an intermediate certificate that the client presents", [root], ofMiddle, [middle], [2, 8]],
  ["an intermediate certificate that the client does not present", [root], ofMiddle, [], undefined],
  ["an intermediate certificate that is trusted", [middle], ofMiddle, [], [2, 8]],
  ["two intermediate certificates, in any order", [root], ofLower, [middle, lower], [3, 8]],
  ["two intermediate certificates, one of which is missing", [root], ofLower, [lower], undefined],
  ["ends at the nearest trusted certificate", [root, middle], ofLower, [lower, middle], [3, 8]],
  ["the certificate itself is trusted", [ofRoot as OddAuthority], ofRoot, [], [1, 9]],
  ["an authority that another one signed", [root], ofOther, [crossed], [1, 9]],
  ["untrusted authorities that signed each other", [lower], ofOther, [crossed, crossedBack, other, root], undefined],
  ["an intermediate certificate that the authority did not sign", [root], ofMiddle, [forged], undefined],
  [
    "an intermediate certificate that the authority did not sign, and one that it did",
    [root],
    ofMiddle,
    [forged, middle],
    [2, 8],
  ],
  ["an intermediate certificate for servers only", [root], ofServers, [forServers], undefined],
  ["an intermediate certificate for any usage", [root], ofAny, [forAny], [1, 9]],
  ["an intermediate certificate that is no authority", [root], ofNone, [noAuthority], undefined],
  ["an authority whose certificate was renewed with the same key", [renewed], ofRoot, [], [5, 9]],
  ["the eighth certificate that the client presents", [root], ofMiddle, [...Array(7).fill(other), middle], [2, 8]],
  [
    "the ninth certificate that the client presents, which is ignored",
    [root],
    ofMiddle,
    [...Array(8).fill(other), middle],
    undefined,
  ],
];
for (const [what, authorities, leaf, shown, expected] of rows) {
  test(`the chain to an authority: ${what}`, () => {
    const certificate = (one: OddAuthority): X509Certificate => new X509Certificate(one.cert);
    const times = wayTo(
      parseAuthorities(authorities.map(({ cert }) => cert).join("")),
      certificate(leaf as OddAuthority),
      shown.map(certificate),
    );
    assert.deepEqual(times && [(times.from - startMs) / hourMs, (times.to - startMs) / hourMs], expected);
  });
}

const pemRows: [what: string, pem: string, expected: number | RegExp][] = [
  ["two", root.cert + other.cert, 2],
  ["between other text and keys", `# one\n${root.cert}${root.key}\nlast\n${other.cert}`, 2],
  ["with Windows line endings", root.cert.replaceAll("\n", "\r\n"), 1],
  ["without a newline at the end", root.cert.trimEnd(), 1],
  ["nothing", "", /^data does not contain any valid RSA or ECDSA certificates$/],
  ["a key", root.key, /^data does not contain any valid RSA or ECDSA certificates$/],
  ["half of one", root.cert.slice(0, 200), /^data does not contain any valid RSA or ECDSA certificates$/],
  [
    "a damaged one behind a good one",
    root.cert + other.cert.replace("\nMII", "\nAII"),
    /^x509: malformed certificate$/,
  ],
];
for (const [what, pem, expected] of pemRows) {
  test(`certificates in PEM: ${what}`, () => {
    if (typeof expected === "number") assert.equal(parseCertificates(pem).length, expected);
    else assert.throws(() => parseCertificates(pem), { message: expected });
  });
}
