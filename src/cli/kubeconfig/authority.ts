/** The authority that signs client certificates. */

import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { join } from "node:path";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { parseCertificates } from "../../lib/x509/pem.ts";
import type { KeyPair } from "../../server/serving/x509.ts";
import { FlagError } from "../flags/contract.ts";

/** A certificate authority that can sign now. */
export interface Authority extends KeyPair {
  /** The file of its certificate. */
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

interface AuthorityOptions {
  readonly dataDir: string;
  readonly clientCaFile?: string;
  readonly clientCaKey?: string;
}

/**
 * Reads the authority of a data directory, or that of `--client-ca-file` and `--client-ca-key`.
 *
 * @param now milliseconds since 1970
 * @throws FlagError, Error that says what is missing, or why the authority cannot sign
 */
export async function readAuthority(options: AuthorityOptions, now: number): Promise<Authority> {
  const { dataDir, clientCaFile, clientCaKey } = options;
  if ((clientCaFile === undefined) !== (clientCaKey === undefined))
    throw new FlagError("--client-ca-file and --client-ca-key must be set together");
  const hint = clientCaFile === undefined ? dataDirHint(dataDir) : "";
  const file = clientCaFile ?? join(dataDir, "ca.crt");
  const keyFile = clientCaKey ?? join(dataDir, "ca.key");
  const [cert, key] = [await readText(file, hint), await readText(keyFile, hint)];
  const [certificate] = parseIn(file, () => parseCertificates(cert)) as [X509Certificate];
  checkAuthority(certificate, { file, keyFile, key: parseIn(keyFile, () => parseKey(key)), now });
  return { cert: certificate.toString(), key, file, notAfter: certificate.validToDate.getTime() };
}

const dataDirHint = (dataDir: string): string =>
  `. A server creates it at its first start with --data-dir ${dataDir}; for another authority, set --client-ca-file and --client-ca-key`;

async function readText(file: string, hint: string): Promise<string> {
  try {
    return (await readBoundedFile(file)).toString();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new Error(`${file} does not exist${hint}`, { cause: error });
    if (code === "EACCES")
      throw new Error(`${file} cannot be read: permission denied. The user that runs the server can read it`, {
        cause: error,
      });
    throw error;
  }
}

/** The message has the name of the file, and no part of a key. */
function parseIn<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** OpenSSL would ask the terminal for the password of an encrypted key. @throws Error */
function parseKey(pem: string): KeyObject {
  if (/^(?:-----BEGIN ENCRYPTED |Proc-Type: 4,ENCRYPTED)/m.test(pem)) throw new Error("the key is encrypted");
  return createPrivateKey(pem);
}

interface Checked {
  readonly file: string;
  readonly keyFile: string;
  readonly key: KeyObject;
  readonly now: number;
}

/** @throws Error */
function checkAuthority(certificate: X509Certificate, { file, keyFile, key, now }: Checked): void {
  if (!certificate.ca) throw new Error(`${file} is not a certificate authority`);
  if (!certificate.checkPrivateKey(key)) throw new Error(`${keyFile} is not the key of ${file}`);
  const { validFromDate, validToDate } = certificate;
  if (now > validToDate.getTime()) throw new Error(`${file} expired at ${validToDate.toISOString()}`);
  if (now < validFromDate.getTime()) throw new Error(`${file} is not valid before ${validFromDate.toISOString()}`);
}
