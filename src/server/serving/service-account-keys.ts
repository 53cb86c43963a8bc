/** The keys of service account tokens: from the files of flags, or created once and stored in the data directory. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import {
  distinctKeys,
  type PublicKey,
  publicKeysIn,
  readPublicKeys,
  readSigningKey,
  type SigningKey,
} from "../../authentication/service-account/keys.ts";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { readGiven } from "../../lib/kubeconfig/kubeconfig.ts";
import type { ServerOptions } from "../options.ts";
import type { Certificates } from "./certificates.ts";
import { formatSec1Key, upgradeKeyFile } from "./sec1-key.ts";

/** The keys that sign and verify service account tokens. */
export interface ServiceAccountKeys {
  readonly signing: SigningKey;
  /** Keys whose tokens are accepted, without duplicates, including the signing key. */
  readonly accepted: readonly PublicKey[];
  /** The PEM of the signing key, if the server has made it. */
  readonly ownKey: string | undefined;
}

type KeyOptions = Pick<
  ServerOptions,
  "dataDir" | "logger" | "serviceAccountKeyFiles" | "serviceAccountSigningKeyFile" | "tlsPrivateKeyFile"
>;

/** The key of a server, and its PEM. */
interface KeptKey {
  readonly pem: string;
  readonly signing: SigningKey;
}

/** By the certificates of their server, with which its forks begin, too. */
const keptKeys = new WeakMap<Certificates, KeptKey>();

function readKept(pem: string, own: Certificates): SigningKey {
  const known = keptKeys.get(own);
  if (known?.pem === pem) return known.signing;
  const signing = readSigningKey(pem, "");
  keptKeys.set(own, { pem, signing });
  return signing;
}

/**
 * @param own the certificates of the server
 * @param kept the PEM of the key of a server without a data directory; undefined: a new key
 * @throws Error with the name of a file that cannot be read or has no key
 */
export async function serviceAccountKeys(
  options: KeyOptions,
  own: Certificates,
  kept?: string,
): Promise<ServiceAccountKeys> {
  const { serviceAccountKeyFiles, serviceAccountSigningKeyFile: file, tlsPrivateKeyFile } = options;
  const ownPem = file === undefined ? (kept ?? (await ownKey(options))) : undefined;
  const signing =
    ownPem === undefined
      ? readSigningKey((await readGiven(file as string)).toString(), file as string)
      : readKept(ownPem, own);
  const given = await Promise.all(
    serviceAccountKeyFiles.map(async (one) => readPublicKeys((await readGiven(one)).toString(), one)),
  );
  // The key of the serving certificate is accepted only if its type can sign tokens.
  const served =
    serviceAccountKeyFiles.length === 0 && tlsPrivateKeyFile !== undefined
      ? publicKeysIn((await readGiven(tlsPrivateKeyFile)).toString())
      : [];
  return { signing, accepted: distinctKeys([signing.public, ...given.flat(), ...served]), ownKey: ownPem };
}

/** A new key is stored or the start fails, because tokens must remain valid after a restart. */
async function ownKey({ dataDir, logger }: Pick<KeyOptions, "dataDir" | "logger">): Promise<string> {
  if (dataDir === undefined) return formatSec1Key(makeKey());
  const file = join(dataDir, "service-account.key");
  const kept = await readIfPresent(file);
  if (kept !== undefined) return upgradeKeyFile(file, kept, logger);
  const pem = formatSec1Key(makeKey());
  makeDirectory(dataDir, { mode: 0o700 });
  await writeFileAtomically(file, pem, 0o600);
  return pem;
}

/** Takes less than a millisecond. */
function makeKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return (await readBoundedFile(file)).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
