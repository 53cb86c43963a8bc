/** A server starts with certificates that are not valid now, as kube-apiserver does, and warns of them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServer } from "../../src/index.ts";
import { oddCertificate } from "../support/odd-certificates.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-expired-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const dayMs = 86_400_000;
const now = Date.now();
const during = (from: number, to: number) => ({
  notBefore: new Date(now + from * dayMs),
  notAfter: new Date(now + to * dayMs),
});

const rows: [what: string, times: ReturnType<typeof during>, message: string | undefined][] = [
  ["expired", during(-3, -1), "Certificate has expired"],
  ["future", during(1, 3), "Certificate is not valid yet"],
  ["valid", during(-1, 1), undefined],
];
for (const [what, times, message] of rows) {
  test(`a certificate and an authority that are ${what} ${message === undefined ? "are not logged" : "are logged with their files and dates"}`, async () => {
    const { cert, key } = await oddCertificate({ subject: [{ CN: [what] }], ...times, authority: {} });
    const [certFile, keyFile] = [join(directory, `${what}.crt`), join(directory, `${what}.key`)];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const warnings: [string, unknown][] = [];
    const server = await startServer({
      tlsCertFile: certFile,
      tlsPrivateKeyFile: keyFile,
      clientCaFile: certFile,
      controllers: [],
      logger: { info() {}, error() {}, warn: (text, values) => void warnings.push([text, values]) },
    });
    await server.close();
    const dates = {
      subject: `CN=${what}`,
      notBefore: `${times.notBefore.toISOString().slice(0, 19)}.000Z`,
      notAfter: `${times.notAfter.toISOString().slice(0, 19)}.000Z`,
    };
    const expected = [
      [message, { name: `serving-cert::${certFile}::${keyFile}`, ...dates }],
      [message, { name: `client-ca-bundle::${certFile}`, ...dates }],
    ];
    assert.deepEqual(warnings, message === undefined ? [] : expected);
  });
}
