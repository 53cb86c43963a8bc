/** Issues the certificates of the authorities, and the kubeconfig of the administrator. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import { readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";
import { parseCertificates } from "../../lib/x509/pem.ts";
import { formatKubeconfig } from "../../server/serving/kubeconfig.ts";
import { issueCertificate, type KeyPair } from "../../server/serving/x509.ts";
import { formatAccepted } from "./accepted-keys.ts";
import {
  type Authority,
  adminKubeconfig,
  dayMs,
  earlierMs,
  etcdLeaves,
  type Leaf,
  leafDays,
  leaves,
} from "./contract.ts";
import type { Directory } from "./directory.ts";
import type { Keys } from "./key-sets.ts";

/** What a certificate is made for. */
export interface LeafOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** DNS names and addresses that the certificates need, in addition to those that they have. */
  readonly names: Readonly<Record<"servers" | "members", readonly string[]>>;
  /** A certificate that is valid for a shorter time is replaced. */
  readonly leastMs: number;
}

/**
 * Issues certificates that are missing, expire soon, lack a name, or are not from the authority in use, and writes the kubeconfig again if it has
 * changed.
 *
 * @param server the URL in the kubeconfig; undefined: that of the existing one
 */
export async function renewLeaves(
  directory: Directory,
  authorities: ReadonlyMap<Authority, Keys>,
  { server, ...options }: LeafOptions & { readonly server?: string },
): Promise<void> {
  for (const leaf of authorities.has("etcd-ca") ? [...leaves, ...etcdLeaves] : leaves)
    await renewLeaf(leaf, directory, authorities.get(leaf.authority) as Keys, options);
  const url = server ?? (await serverOf(directory));
  if (url === undefined) return;
  const admin = { cert: await directory.read("admin.crt"), key: await directory.read("admin.key") };
  const caBundle = bundleOf(authorities.get("ca") as Keys);
  await directory.write(adminKubeconfig, formatKubeconfig(url, { caBundle, admin }), "written");
}

async function renewLeaf(leaf: Leaf, directory: Directory, keys: Keys, options: LeafOptions): Promise<void> {
  const authority: KeyPair = { cert: (keys.accepted[0] as { pem: string }).pem, key: keys.key };
  const kept = await usable(leaf, directory, authority, options);
  const pair = kept ?? (await issue(leaf, directory, authority, options));
  const ending = leaf.hasAuthorities ? bundleOf(keys) : "";
  // The certificate last: a server uses the new pair when both belong together.
  await directory.write(`${leaf.name}.key`, pair.key, "issued");
  await directory.write(`${leaf.name}.crt`, pair.cert + ending, kept ? "has the accepted authorities" : "issued");
}

const bundleOf = ({ accepted }: Keys): string =>
  formatAccepted(accepted.map(({ pem, publicKey }) => ({ pem, publicKey })));

/** @returns the existing pair if it need not be replaced */
async function usable(
  leaf: Leaf,
  directory: Directory,
  authority: KeyPair,
  { now, names, leastMs }: LeafOptions,
): Promise<KeyPair | undefined> {
  const certificate = await certificateOf(leaf, directory);
  const key = await directory.find(`${leaf.name}.key`);
  if (certificate === undefined || key === undefined) return undefined;
  const isGood =
    certificate.checkPrivateKey(createPrivateKey(key)) &&
    certificate.verify(new X509Certificate(authority.cert).publicKey) &&
    certificate.validToDate.getTime() - now >= leastMs &&
    neededNames(leaf, names).every((name) => hasName(certificate, name));
  return isGood ? { cert: certificate.toString(), key } : undefined;
}

const neededNames = (leaf: Leaf, names: LeafOptions["names"]): readonly string[] =>
  leaf.names === undefined ? [] : names[leaf.names];

async function certificateOf({ name }: Leaf, directory: Directory): Promise<X509Certificate | undefined> {
  const text = await directory.find(`${name}.crt`);
  return text === undefined ? undefined : parseCertificates(text)[0];
}

async function issue(leaf: Leaf, directory: Directory, authority: KeyPair, options: LeafOptions): Promise<KeyPair> {
  const { now, names } = options;
  const before = await certificateOf(leaf, directory);
  const all = leaf.names === undefined ? [] : [...new Set([...namesOf(before), ...names[leaf.names]])];
  const authorityEnd = new X509Certificate(authority.cert).validToDate.getTime();
  return issueCertificate(authority, {
    subject: leaf.subject,
    usage: leaf.usage,
    names: all,
    notBefore: now - earlierMs,
    notAfter: Math.min(now + leafDays * dayMs, authorityEnd),
  });
}

function hasName(certificate: X509Certificate, name: string): boolean {
  const found = ipVersion(name) === 0 ? certificate.checkHost(name, { wildcards: false }) : certificate.checkIP(name);
  return found !== undefined || namesOf(certificate).includes(name);
}

/** The DNS names and addresses of a certificate. Others have quotes, and are left out. */
export function namesOf(certificate: X509Certificate | undefined): string[] {
  return (certificate?.subjectAltName ?? "").split(", ").flatMap((entry) => {
    const [, name] = /^(?:DNS|IP Address):([^"]+)$/.exec(entry) ?? [];
    return name === undefined ? [] : [name];
  });
}

/** @throws Error for a kubeconfig that is not valid */
async function serverOf(directory: Directory): Promise<string | undefined> {
  if ((await directory.find(adminKubeconfig)) === undefined) return undefined;
  const { clusters } = await readKubeconfig(join(directory.path, adminKubeconfig));
  return [...clusters.values()][0]?.server;
}
