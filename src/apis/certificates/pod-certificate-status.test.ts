import assert from "node:assert/strict";
import type { webcrypto } from "node:crypto";
import { test } from "node:test";
import { loadX509 } from "../../../test/support/load-x509.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateCertificateStatus } from "./pod-certificate-status.ts";

const now = Date.UTC(2026, 0, 1, 12);
const minuteMs = 60_000;
const at = (minutes: number): string => new Date(now + minutes * minuteMs).toISOString().replace(".000Z", "Z");
const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
const keys = await newKeys();
const otherKeys = await newKeys();

interface Leaf {
  /** Minutes from now. */
  readonly from?: number;
  readonly to?: number;
  readonly names?: readonly string[];
  readonly keys?: webcrypto.CryptoKeyPair;
}

async function leafOf({ from = 0, to = 60, names = ["a.example.com"], keys: own = keys }: Leaf): Promise<string> {
  const { SubjectAlternativeNameExtension, X509CertificateGenerator } = await loadX509();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=pod",
    keys: own,
    signingAlgorithm,
    notBefore: new Date(now + from * minuteMs),
    notAfter: new Date(now + to * minuteMs),
    extensions: [new SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns", value })))],
  });
  return `${certificate.toString("pem")}\n`;
}

async function requestOf(status: Record<string, unknown> | undefined): Promise<KubeObject> {
  const spki = Buffer.from(await crypto.subtle.exportKey("spki", keys.publicKey)).toString("base64");
  const spec = { maxExpirationSeconds: 7200, pkixPublicKey: spki };
  return { apiVersion: "", kind: "", metadata: {}, spec, ...(status !== undefined && { status }) };
}

const condition = (type: string): object => ({
  type,
  status: "True",
  reason: "R",
  message: "m",
  lastTransitionTime: at(0),
});
const issued = { conditions: [condition("Issued")], notBefore: at(0), notAfter: at(60), beginRefreshAt: at(30) };

const rows: [what: string, leaf: Leaf, status: Record<string, unknown>, problems: string[]][] = [
  ["accepts an issued certificate", {}, {}, []],
  ["accepts a chain", {}, { more: await leafOf({ keys: otherKeys }) }, []],
  [
    "rejects a chain that contains a key",
    {},
    { more: "-----BEGIN PRIVATE KEY-----\nYWJj\n-----END PRIVATE KEY-----\n" },
    ["status.certificateChain: issued certificate chain must consist entirely of CERTFICATE PEM blocks"],
  ],
  [
    "rejects a certificate of another key",
    { keys: otherKeys },
    {},
    ["status.certificateChain: leaf certificate was not issued to the requested public key"],
  ],
  [
    "rejects malformed DNS names",
    { names: ["a..b", ".c"] },
    {},
    [
      "status.certificateChain: leaf certificate's DNSName should not contain '..'",
      "status.certificateChain: leaf certificate's DNSName should not start or end with '.'",
    ],
  ],
  [
    "requires the times",
    {},
    { notBefore: undefined, notAfter: undefined, beginRefreshAt: undefined },
    [
      "status.notBefore: must be present and consistent with the issued certificate",
      "status.notAfter: must be present and consistent with the issued certificate",
      "status.beginRefreshAt: must be present and in the range [notbefore+10min, notafter-10min]",
    ],
  ],
  [
    "rejects a notBefore that differs from the certificate",
    {},
    { notBefore: at(1) },
    ["status.notBefore: must be set to the NotBefore time encoded in the leaf certificate"],
  ],
  [
    "rejects a certificate that is valid since long ago",
    { from: -5 },
    { notBefore: at(-5) },
    ["status.notBefore: must be set to within 5 minutes of kube-apiserver's current time"],
  ],
  [
    "rejects a notAfter that differs from the certificate",
    {},
    { notAfter: at(61) },
    ["status.notAfter: must be set to the NotAfter time encoded in the leaf certificate"],
  ],
  [
    "rejects a lifetime that is too short",
    { to: 59 },
    { notAfter: at(59) },
    ["status.certificateChain: leaf certificate lifetime must be >= 1 hour"],
  ],
  [
    "rejects a lifetime that is too long",
    { to: 121 },
    { notAfter: at(121) },
    ["status.certificateChain: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)"],
  ],
  [
    "rejects a refresh time that is too early",
    {},
    { beginRefreshAt: at(9) },
    ["status.beginRefreshAt: must be at least 10 minutes after status.notBefore"],
  ],
  [
    "rejects a refresh time that is too late",
    {},
    { beginRefreshAt: at(51) },
    ["status.beginRefreshAt: must be at least 10 minutes before status.notAfter"],
  ],
];

for (const [what, leaf, { more = "", ...status }, problems] of rows) {
  test(what, async () => {
    const next = await requestOf({ ...issued, certificateChain: `${await leafOf(leaf)}${more}`, ...status });
    const errors = new FieldErrors();
    await validateCertificateStatus(next, await requestOf(undefined), now, errors);
    const messages = errors.causes.map(
      ({ field, message }) =>
        `${field}: ${(message ?? "").replace(/^(Invalid|Required) value: ("(\\.|[^"])*": |\d+: )?/s, "")}`,
    );
    assert.deepEqual(messages, problems);
  });
}

test("shows a lifetime in nanoseconds", async () => {
  const next = await requestOf({
    ...issued,
    certificateChain: await leafOf({ to: 59 }),
    notAfter: at(59),
    beginRefreshAt: at(30),
  });
  const errors = new FieldErrors();
  await validateCertificateStatus(next, await requestOf(undefined), now, errors);
  assert.equal(errors.causes[0]?.message, "Invalid value: 3540000000000: leaf certificate lifetime must be >= 1 hour");
});
