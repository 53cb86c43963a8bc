import { join } from "node:path";
import { addressAt, parseIpRange } from "../../lib/ip-range/ip-range.ts";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import { dnsSubdomainProblems, wildcardSubdomainProblems } from "../../lib/names/names.ts";
import { FlagError } from "../flags/contract.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { adminKubeconfig, dayMs, etcdLeaves, keySets, leaves, localNames, soonDays } from "./contract.ts";
import { changeDirectory } from "./directory.ts";
import { formatChanges } from "./format-changes.ts";
import { initKeys, readAuthorities } from "./key-sets.ts";
import { renewLeaves } from "./leaves.ts";

/** The options of `coxswain certs init`. */
export interface InitOptions {
  readonly name: readonly string[];
  readonly etcdName: readonly string[];
  readonly server?: string;
  readonly serviceClusterIpRange: string;
  readonly output: OutputFormat;
}

/** By which programs of a cluster, and of one machine, reach a server. */
const commonNames = [
  ...localNames,
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

/**
 * Makes all shared files in a directory that has none of them.
 *
 * @param now milliseconds since 1970
 * @throws FlagError, Error when an option is not valid, a file exists, or one cannot be written
 */
export async function initCertificates(path: string, options: InitOptions, output: Output, now: number): Promise<void> {
  const names = checkNames("--name", options.name);
  const members = checkNames("--etcd-name", options.etcdName);
  const server = checkServer(options.server ?? `https://${hostOf(names[0] ?? "localhost")}:6443`);
  const range = parseIpRange(options.serviceClusterIpRange);
  if (range === undefined)
    throw new FlagError(
      `--service-cluster-ip-range is not a range, such as 10.0.0.0/24: ${options.serviceClusterIpRange}`,
    );
  const all = {
    servers: [...commonNames, addressAt(range, 1), ...names],
    members: [...localNames, ...members],
  };
  const made = keySets.filter(({ name }) => name !== "etcd-ca" || members.length > 0);
  await changeDirectory(path, { creates: true }, async (directory) => {
    await checkAbsent(path, await directory.list());
    try {
      for (const set of made) await initKeys(set, directory, now);
      const authorities = await readAuthorities(directory);
      await renewLeaves(directory, authorities, { now, names: all, leastMs: soonDays * dayMs, server });
    } catch (error) {
      await directory.removeWritten(); // A part of the files would make the next attempt fail.
      throw error;
    }
    output.out(formatChanges(directory, options.output, { showsFlags: true, restarts: false }));
  });
}

/** @throws FlagError for names that no certificate can have */
export function checkNames(option: string, names: readonly string[]): readonly string[] {
  for (const name of names) {
    const isName =
      ipVersion(name) !== 0 || dnsSubdomainProblems(name).length === 0 || wildcardSubdomainProblems(name).length === 0;
    if (!isName) throw new FlagError(`${option} must be a DNS name or an IP address: ${JSON.stringify(name)}`);
  }
  return names;
}

/** @throws FlagError */
export function checkServer(url: string): string {
  if (URL.parse(url)?.protocol !== "https:")
    throw new FlagError(`--server must be an https URL: ${JSON.stringify(url)}`);
  return url;
}

const hostOf = (name: string): string => (name.includes(":") ? `[${name}]` : name);

/** @throws Error that names the first file that exists */
async function checkAbsent(path: string, existing: readonly string[]): Promise<void> {
  const ours = [
    ...keySets.flatMap(({ name, accepted }) => [`${name}.key`, `${name}-next.key`, accepted]),
    ...[...leaves, ...etcdLeaves].flatMap(({ name }) => [`${name}.crt`, `${name}.key`]),
    adminKubeconfig,
  ];
  const found = ours.find((name) => existing.includes(name));
  if (found !== undefined)
    throw new Error(`${join(path, found)} exists already, and is not replaced: coxswain certs renew ${path} renews it`);
}
