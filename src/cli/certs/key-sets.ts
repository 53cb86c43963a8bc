/** Makes, replaces and reads the keys of a {@link KeySet}. A key is replaced in two steps, so that every server accepts it before any server uses it. */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { formatSec1Key } from "../../server/serving/sec1-key.ts";
import { createAuthority, type KeyPair } from "../../server/serving/x509.ts";
import { type AcceptedKey, belongsTo, endOf, formatAccepted, parseAccepted } from "./accepted-keys.ts";
import { type Authority, authorityDays, dayMs, earlierMs, type KeySet, keySets } from "./contract.ts";
import type { Directory } from "./directory.ts";

/** The keys of a {@link KeySet}. */
export interface Keys {
  /** The private key in use, PEM. */
  readonly key: string;
  /** The prepared private key, which nothing uses yet, PEM. */
  readonly next: string | undefined;
  /** What is accepted; that of the key in use is first. */
  readonly accepted: readonly AcceptedKey[];
}

const keyFile = ({ name }: KeySet): string => `${name}.key`;
const nextFile = ({ name }: KeySet): string => `${name}-next.key`;

/** Makes the first key. @param now milliseconds since 1970 */
export async function initKeys(set: KeySet, directory: Directory, now: number): Promise<void> {
  const { cert, key } = await newKey(set, now);
  await directory.write(keyFile(set), key, "created");
  await directory.write(set.accepted, formatAccepted(parseAccepted(cert)), "created");
}

/** @throws Error when a file is missing or not valid, or the key does not belong to what is accepted */
export async function readKeys(set: KeySet, directory: Directory): Promise<Keys> {
  const key = await directory.read(keyFile(set));
  const text = await directory.read(set.accepted);
  const next = await directory.find(nextFile(set));
  const accepted = parseIn(join(directory.path, set.accepted), () => parseAccepted(text));
  const isCurrent = (one: AcceptedKey): boolean =>
    parseIn(join(directory.path, keyFile(set)), () => belongsTo(key, one));
  const current = accepted.find(isCurrent);
  if (current === undefined)
    throw new Error(`${join(directory.path, keyFile(set))} does not belong to any entry of ${set.accepted}`);
  return { key, next, accepted: [current, ...accepted.filter((one) => one !== current)] };
}

/** Whether the directory has the keys of an etcd cluster. */
export async function hasEtcd(directory: Directory): Promise<boolean> {
  return (await directory.find("etcd-ca.key")) !== undefined;
}

/** The authorities in the directory. @throws Error as {@link readKeys} */
export async function readAuthorities(directory: Directory): Promise<ReadonlyMap<Authority, Keys>> {
  const authorities = new Map<Authority, Keys>();
  const withEtcd = await hasEtcd(directory);
  for (const set of keySets)
    if (set.name !== "sa" && (withEtcd || set.name !== "etcd-ca"))
      authorities.set(set.name, await readKeys(set, directory));
  return authorities;
}

/** The message has the name of the file, and no part of a key. */
function parseIn<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const reason = "code" in (error as Error) ? "it is not a private key in PEM" : (error as Error).message;
    throw new Error(`${file} cannot be used: ${reason}`, { cause: error });
  }
}

/** Makes the next key, which is accepted from now on, and used after {@link activate}. @throws Error when there is one already */
export async function prepare(set: KeySet, directory: Directory, now: number): Promise<void> {
  const { next, accepted } = await readKeys(set, directory);
  if (next !== undefined && accepted.some((one) => belongsTo(next, one)))
    throw new Error(`${nextFile(set)} is prepared already: --activate ${set.name} uses it`);
  const { cert, key } = await newKey(set, now);
  await directory.write(nextFile(set), key, "created; nothing uses it yet");
  await directory.write(set.accepted, formatAccepted([...accepted, ...parseAccepted(cert)]), "accepts the next key");
}

/**
 * Uses the prepared key from now on. Each step can be repeated after a failure of the next one.
 *
 * @param keptMs how long the key that was in use remains accepted
 * @throws Error when none is prepared
 */
export async function activate(
  set: KeySet,
  directory: Directory,
  { now, keptMs }: { readonly now: number; readonly keptMs: number },
): Promise<void> {
  const { next, accepted } = await readKeys(set, directory);
  const used = next === undefined ? undefined : accepted.find((one) => belongsTo(next, one));
  if (used === undefined)
    throw new Error(
      `no next key of ${set.name} is prepared: use --prepare ${set.name}, and give all servers the files first`,
    );
  const former = accepted.filter((one) => one !== used).map((one) => ({ ...one, until: one.until ?? now + keptMs }));
  await directory.write(set.accepted, formatAccepted([used, ...former]), "the former key is accepted for a time");
  await directory.rename(nextFile(set), keyFile(set), "the next key is in use");
  await removeExpired(set, directory, now);
}

/** Removes what is no longer accepted. The key in use, and the next one, stay. */
export async function removeExpired(set: KeySet, directory: Directory, now: number): Promise<void> {
  const { accepted } = await readKeys(set, directory);
  const [current, ...others] = accepted as [AcceptedKey, ...AcceptedKey[]];
  const kept = others.filter((one) => (endOf(one) ?? Number.POSITIVE_INFINITY) > now);
  if (kept.length < others.length)
    await directory.write(set.accepted, formatAccepted([current, ...kept]), "without what is no longer accepted");
}

async function newKey({ name }: KeySet, now: number): Promise<KeyPair> {
  if (name === "sa") {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    return { cert: publicKey.export({ type: "spki", format: "pem" }).toString(), key: formatSec1Key(privateKey) };
  }
  // Two authorities of one name would be hard to distinguish in messages of other programs.
  const commonName = `coxswain-${name} ${new Date(now).toISOString()}`;
  return createAuthority({
    subject: { commonName },
    notBefore: now - earlierMs,
    notAfter: now + authorityDays * dayMs,
  });
}
