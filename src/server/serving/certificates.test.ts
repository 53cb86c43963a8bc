import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../apimachinery/logger.ts";
import { type Certificates, createCertificates, ensureCertificates, placeServing } from "./certificates.ts";

const dayMs = 24 * 3600_000;
const start = Date.UTC(2026, 0, 2, 3, 4, 5);
const names = ["localhost", "127.0.0.1", "::1", "2001:db8::ffff:1.2.3.4", "kubernetes.default.svc"];

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-certificates-"));
  try {
    await run(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test("the CA signs the others; each has its usages, validity and names", async () => {
  const { ca, serving, admin } = await createCertificates({ now: start, names });
  const [authority, server, client] = [ca, serving, admin].map(({ cert }) => new X509Certificate(cert)) as [
    X509Certificate,
    X509Certificate,
    X509Certificate,
  ];
  assert.ok(authority.ca && !server.ca && !client.ca);
  for (const one of [authority, server, client]) {
    assert.ok(one.checkIssued(authority) && one.verify(authority.publicKey));
    assert.equal(one.validFromDate.getTime(), start - dayMs);
  }
  assert.equal(authority.validToDate.getTime(), start + 3650 * dayMs);
  assert.equal(server.validToDate.getTime(), start + 365 * dayMs);
  assert.equal(client.subject, "O=system:masters\nCN=kubernetes-admin");
  assert.deepEqual([server.keyUsage, client.keyUsage], [["1.3.6.1.5.5.7.3.1"], ["1.3.6.1.5.5.7.3.2"]]);
  assert.equal(
    server.subjectAltName,
    "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:FFFF:102:304, DNS:kubernetes.default.svc",
  );
});

/** The files that a later start finds, and which of the three certificates it keeps. */
const laterRows: [
  what: string,
  change: (directory: string) => void | Promise<void>,
  later: { days?: number; names?: string[] },
  kept: (keyof Certificates)[],
][] = [
  ["nothing changed", () => {}, {}, ["ca", "serving", "admin"]],
  ["31 days before the end", () => {}, { days: 365 - 31 }, ["ca", "serving", "admin"]],
  ["29 days before the end", () => {}, { days: 365 - 29 }, ["ca"]],
  ["29 days before the end of the CA", () => {}, { days: 3650 - 29 }, []],
  ["fewer names", () => {}, { names: ["localhost"] }, ["ca", "serving", "admin"]],
  ["another address", () => {}, { names: [...names, "192.0.2.1"] }, ["ca", "admin"]],
  ["another name", () => {}, { names: [...names, "example.com"] }, ["ca", "admin"]],
  ["the admin's certificate is gone", (directory) => rmSync(join(directory, "admin.crt")), {}, ["ca", "serving"]],
  ["the CA's key is gone", (directory) => rmSync(join(directory, "ca.key")), {}, []],
  [
    "a key of another certificate, left by a start that was killed",
    async (directory) =>
      writeFileSync(join(directory, "apiserver.key"), (await createCertificates({ now: start, names })).serving.key),
    {},
    ["ca", "admin"],
  ],
  [
    "a certificate of another CA",
    async (directory) => {
      const { admin } = await createCertificates({ now: start, names });
      writeFileSync(join(directory, "admin.key"), admin.key);
      writeFileSync(join(directory, "admin.crt"), admin.cert);
    },
    {},
    ["ca", "serving"],
  ],
];
for (const [what, change, later, kept] of laterRows) {
  test(`a later start: ${what}`, () =>
    inDirectory(async (directory) => {
      const first = await ensureCertificates(directory, { now: start, names }, silentLogger);
      await change(directory);
      const options = { now: start + (later.days ?? 1) * dayMs, names: later.names ?? names };
      const second = await ensureCertificates(directory, options, silentLogger);
      for (const name of ["ca", "serving", "admin"] as const)
        assert.equal(second[name].cert === first[name].cert, kept.includes(name), name);
      assert.deepEqual(
        await ensureCertificates(directory, options, silentLogger),
        second,
        "what was made is found again",
      );
    }));
}

test("only the owner can read key files", () =>
  inDirectory(async (directory) => {
    const { ca } = await ensureCertificates(directory, { now: start, names }, silentLogger);
    for (const name of ["ca", "apiserver", "admin"])
      assert.equal(statSync(join(directory, `${name}.key`)).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(directory, "ca.crt"), "utf8"), ca.cert);
  }));

const asPkcs8 = (key: string): string => createPrivateKey(key).export({ type: "pkcs8", format: "pem" }).toString();
const publicKeyOf = (key: string): string => createPublicKey(key).export({ type: "spki", format: "pem" }).toString();

test("writes keys as SEC1, and rewrites those of an earlier start that are PKCS#8", () =>
  inDirectory(async (directory) => {
    const first = await ensureCertificates(directory, { now: start, names }, silentLogger);
    for (const { key } of Object.values(first))
      assert.match(key, /^-----BEGIN EC PRIVATE KEY-----\n[^-]+-----END EC PRIVATE KEY-----\n$/);
    const files = { ca: "ca", serving: "apiserver", admin: "admin" };
    const read = (): string[] =>
      Object.values(files).map((name) => readFileSync(join(directory, `${name}.key`), "utf8"));
    assert.deepEqual(read(), [first.ca.key, first.serving.key, first.admin.key]);
    for (const name of Object.values(files)) {
      const file = join(directory, `${name}.key`);
      writeFileSync(file, asPkcs8(readFileSync(file, "utf8")));
    }
    const second = await ensureCertificates(directory, { now: start, names }, silentLogger);
    assert.deepEqual(second, first);
    assert.deepEqual(read(), [first.ca.key, first.serving.key, first.admin.key]);
    for (const name of Object.values(files)) assert.equal(statSync(join(directory, `${name}.key`)).mode & 0o777, 0o600);
  }));

test("issues certificates with the key of an authority in either form", async () => {
  const { ca } = await createCertificates({ now: start, names });
  for (const key of [ca.key, asPkcs8(ca.key)]) {
    const reissue = await reissued({ ca: { ...ca, key }, serving: ca, admin: ca });
    assert.ok(new X509Certificate(reissue.cert).verify(createPublicKey(ca.cert)));
  }
});

test("rewrites a placed serving key that is PKCS#8, and leaves those of users unchanged", () =>
  inDirectory(async (directory) => {
    const [own, others] = await Promise.all([1, 2].map(() => createCertificates({ now: start, names })));
    const keyFile = join(directory, "apiserver.key");
    for (const [pair, rewritten] of [
      [own?.serving, true],
      [others?.serving, false],
    ] as const) {
      const key = asPkcs8(pair?.key as string);
      writeFileSync(join(directory, "apiserver.crt"), pair?.cert as string);
      writeFileSync(keyFile, key);
      await placeServing(directory, own as Certificates, silentLogger);
      const found = readFileSync(keyFile, "utf8");
      assert.equal(found === key, !rewritten);
      assert.equal(publicKeyOf(found), publicKeyOf(key));
    }
  }));

test("rejects a file that is not a certificate, and does not replace it", () =>
  inDirectory(async (directory) => {
    await ensureCertificates(directory, { now: start, names }, silentLogger);
    writeFileSync(join(directory, "ca.crt"), "mine");
    await assert.rejects(ensureCertificates(directory, { now: start, names }, silentLogger));
    assert.equal(readFileSync(join(directory, "ca.crt"), "utf8"), "mine");
  }));

test("writes the serving certificate to --cert-dir and renews it there, but never replaces that of a user", async () => {
  await inDirectory(async (directory) => {
    const [own, later, others] = await Promise.all([1, 2, 3].map(() => createCertificates({ now: start, names })));
    const place = join(directory, "certificates");
    const read = (): string[] => ["crt", "key"].map((end) => readFileSync(join(place, `apiserver.${end}`), "utf8"));
    assert.equal(await placeServing(place, own as Certificates, silentLogger), undefined);
    assert.deepEqual(read(), [own?.serving.cert, own?.serving.key]);
    const renewed = { ...(own as Certificates), serving: await reissued(own as Certificates) };
    assert.equal(await placeServing(place, renewed, silentLogger), undefined);
    assert.deepEqual(read(), [renewed.serving.cert, renewed.serving.key]);
    assert.deepEqual(await placeServing(place, others as Certificates, silentLogger), [
      join(place, "apiserver.crt"),
      join(place, "apiserver.key"),
    ]);
    assert.deepEqual(read(), [renewed.serving.cert, renewed.serving.key]);
    rmSync(join(place, "apiserver.key"));
    const missing = `error reading ${join(place, "apiserver.key")}, certificate and key must be supplied as a pair`;
    await assert.rejects(placeServing(place, later as Certificates, silentLogger), new Error(missing));
  });
});

/** Another serving certificate of the same authority. */
async function reissued({ ca }: Certificates): Promise<Certificates["serving"]> {
  let serving: Certificates["serving"] | undefined;
  await inDirectory(async (directory) => {
    writeFileSync(join(directory, "ca.crt"), ca.cert);
    writeFileSync(join(directory, "ca.key"), ca.key);
    serving = (await ensureCertificates(directory, { now: start, names }, silentLogger)).serving;
  });
  return serving as Certificates["serving"];
}
