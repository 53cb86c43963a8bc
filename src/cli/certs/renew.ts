import { X509Certificate } from "node:crypto";
import { FlagError, FlagValueError } from "../flags/contract.ts";
import { durationMs } from "../flags/flag-types.ts";
import { type Output, warn } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { type Authority, dayMs, type KeySet, keySets, localNames } from "./contract.ts";
import { changeDirectory, type Directory } from "./directory.ts";
import { formatChanges } from "./format-changes.ts";
import { checkNames, checkServer } from "./init.ts";
import { activate, hasEtcd, initKeys, type Keys, prepare, readAuthorities, removeExpired } from "./key-sets.ts";
import { renewLeaves } from "./leaves.ts";

/** The options of `coxswain certs renew`. */
export interface RenewOptions {
  readonly name: readonly string[];
  /** Of members of etcd, whose certificates are made if they are missing. */
  readonly etcdName: readonly string[];
  readonly server?: string;
  readonly within: string;
  readonly all?: true;
  readonly prepare?: KeySet["name"];
  readonly activate?: KeySet["name"];
  readonly keep: string;
  readonly output: OutputFormat;
}

/**
 * Renews certificates, prepares or activates a key, and removes what is no longer accepted.
 *
 * @param now milliseconds since 1970
 * @throws FlagError, Error when an option is not valid, or a file is missing, not valid, or cannot be written
 */
export async function renewCertificates(
  path: string,
  options: RenewOptions,
  output: Output,
  now: number,
): Promise<void> {
  const servers = checkNames("--name", options.name);
  const members = checkNames("--etcd-name", options.etcdName);
  const withinMs = durationOf("--within", options.within);
  const keptMs = durationOf("--keep", options.keep);
  if (options.prepare !== undefined && options.activate !== undefined)
    throw new FlagError("--prepare cannot be combined with --activate: servers need the prepared files in between");
  if (options.server !== undefined) checkServer(options.server);
  await changeDirectory(path, { creates: false }, async (directory) => {
    for (const set of keySets) await changeKeys(set, directory, options, { now, keptMs });
    const authorities = await readAuthorities(directory);
    await renewLeaves(directory, authorities, {
      now,
      names: { servers, members: [...localNames, ...members] },
      leastMs: options.all ? Number.POSITIVE_INFINITY : withinMs,
      ...(options.server !== undefined && { server: options.server }),
    });
    warnOfAuthorities(authorities, output, { now, withinMs });
    const restarts = directory.changes.some(({ file }) => file === "sa.key" || file === "sa.pub");
    output.out(formatChanges(directory, options.output, { showsFlags: false, restarts }));
  });
}

async function changeKeys(
  set: KeySet,
  directory: Directory,
  options: RenewOptions,
  { now, keptMs }: { readonly now: number; readonly keptMs: number },
): Promise<void> {
  if (set.name === "etcd-ca" && !(await hasEtcd(directory))) {
    if (options.etcdName.length > 0) return initKeys(set, directory, now);
    if (options.prepare !== set.name && options.activate !== set.name) return;
    throw new Error(`${directory.path} has no certificates of etcd: --etcd-name makes them`);
  }
  if (options.prepare === set.name) await prepare(set, directory, now);
  if (options.activate === set.name) await activate(set, directory, { now, keptMs });
  await removeExpired(set, directory, now);
}

/** An authority is replaced by hand, because all clients need it first. */
function warnOfAuthorities(
  authorities: ReadonlyMap<Authority, Keys>,
  output: Output,
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): void {
  for (const [name, { accepted, next }] of authorities) {
    const end = new X509Certificate((accepted[0] as { pem: string }).pem).validToDate.getTime();
    if (next !== undefined || end - now >= Math.max(withinMs, 2 * 365 * dayMs)) continue;
    warn(output, `${name}.crt expires at ${new Date(end).toISOString()}: replace it with --prepare ${name}`);
  }
}

/** @throws FlagError that names the option */
function durationOf(option: string, text: string): number {
  try {
    return durationMs(text);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    throw new FlagError(`${option}: ${error.message}`);
  }
}
