/** `coxswain store encryption status`: how the values of each resource are stored. */
import { resourcesOfKeys } from "../../../catalog/resource-of-key.ts";
import { printable } from "../../../lib/json/printable.ts";
import { type CopiedEntry, objectsPrefix, type StoreReader } from "../../../storage/copy/contract.ts";
import { decryptedReader } from "../../../storage/copy/encrypted-ends.ts";
import { isEncrypted } from "../../../storage/encrypted-value.ts";
import type { Output } from "../../output.ts";
import type { OutputFormat } from "../../subcommands.ts";
import { exitDamaged, exitWhole } from "../contract.ts";
import { parseLocation } from "../location.ts";
import { type EtcdFiles, openReader, tlsOf } from "../open-reader.ts";
import { formatTable } from "../table.ts";
import { openStoreEncryption } from "./open-encryption.ts";

export interface StatusOptions extends EtcdFiles {
  readonly encryptionProviderConfig?: string;
  readonly output: OutputFormat;
}

/** Objects of a resource that are stored in the same way. */
interface Group {
  readonly resource: string;
  /** Such as `aesgcm:v1:key1`, `kms:v2:vault`, or `plain`. */
  readonly storedAs: string;
  objects: number;
  /** Objects that a write would store in another way. Absent without a configuration. */
  stale?: number;
  /** Objects that cannot be decrypted. Absent without a configuration. */
  unreadable?: number;
}

/** @returns the exit code: 1 when objects cannot be decrypted @throws Error */
export async function encryptionStatus(store: string, options: StatusOptions, { out }: Output): Promise<number> {
  const location = parseLocation(store, tlsOf(options));
  const reader = await openReader(location);
  const { encryptionProviderConfig: file } = options;
  try {
    const encryption = file === undefined ? undefined : await openStoreEncryption(file, location);
    try {
      const decrypted = encryption && decryptedReader(reader, encryption);
      const groups = await groupsOf(reader, decrypted);
      if (options.output === "json") out(`${JSON.stringify({ groups }, undefined, 2)}\n`);
      else out(tableOf(groups, decrypted !== undefined));
      return groups.some(({ unreadable = 0 }) => unreadable > 0) ? exitDamaged : exitWhole;
    } finally {
      encryption?.close();
    }
  } finally {
    await reader.close();
  }
}

async function groupsOf(reader: StoreReader, decrypted: StoreReader | undefined): Promise<Group[]> {
  const resourceOf = resourcesOfKeys();
  const groups = new Map<string, Group>();
  for (let after: string | undefined = objectsPrefix, done = false; !done; ) {
    const page = await reader.page(after);
    const read = decrypted && (await decrypted.page(after, page.revision));
    for (const [index, entry] of page.entries.entries()) {
      const [resource, storedAs] = [resourceOf(entry.key), formOf(entry)];
      const name = `${resource}\0${storedAs}`;
      const group = groups.get(name) ?? {
        resource,
        storedAs,
        objects: 0,
        ...(decrypted && { stale: 0, unreadable: 0 }),
      };
      groups.set(name, group);
      group.objects++;
      const plain = read?.entries[index];
      if (decrypted === undefined || plain === undefined) continue;
      if (plain.damage !== undefined) group.unreadable = (group.unreadable ?? 0) + 1;
      else if (plain.isStale === true) group.stale = (group.stale ?? 0) + 1;
    }
    after = page.until;
    done = after === undefined;
  }
  return [...groups.values()].sort((a, b) => compare(a.resource, b.resource) || compare(a.storedAs, b.storedAs));
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Names of providers and keys are before a colon; so much of a value is searched for them. */
const prefixBytesMax = 512;

/** Which provider and key a value names. */
export function formOf({ value, damage }: Pick<CopiedEntry, "value" | "damage">): string {
  if (damage !== undefined) return "damaged";
  if (!isEncrypted(value)) return "plain";
  const [, , provider, version, name] = value.toString("latin1", 0, prefixBytesMax).split(":", 5);
  return [provider, version, name].map((part) => printable(part ?? "")).join(":");
}

function tableOf(groups: readonly Group[], isCompared: boolean): string {
  const title = ["RESOURCE", "STORED AS", "OBJECTS", ...(isCompared ? ["STALE", "UNREADABLE"] : [])];
  const rows = groups.map(({ resource, storedAs, objects, stale = 0, unreadable = 0 }) => [
    printable(resource),
    storedAs,
    String(objects),
    ...(isCompared ? [String(stale), String(unreadable)] : []),
  ]);
  return formatTable([title, ...rows]);
}
