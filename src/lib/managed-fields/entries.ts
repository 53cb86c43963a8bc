/** Converts between `metadata.managedFields` on the wire and the sets that the merge works with. */
import { quoteGo } from "../json/quote.ts";
import { identical } from "../json/values.ts";
import { decodeFieldsV1, encodeFieldsV1, FieldsV1Error } from "../structured-merge/fields-v1.ts";
import { equalSets, type PathSet } from "../structured-merge/set.ts";
import type { ManagedSet } from "../structured-merge/updater.ts";

/** An entry of `metadata.managedFields`, as decoded from JSON. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** The identity of a manager's entry. Apply managers have one entry for all versions. */
export interface ManagerInfo {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  /** Empty for Apply. */
  readonly apiVersion: string;
  readonly subresource: string;
}

/** Decoded managed fields. */
export interface Managed {
  /** By `managerId`. */
  readonly sets: ReadonlyMap<string, ManagedSet>;
  /** The time of each manager's last write, RFC 3339; some entries have none. */
  readonly times: ReadonlyMap<string, string>;
  /** The entries as decoded, which need not be encoded again while unchanged. */
  readonly read: ReadonlyMap<string, ReadEntry>;
}

/** An entry as decoded, with its set. */
export interface ReadEntry {
  readonly set: PathSet;
  readonly fieldsV1: Record<string, unknown>;
}

/** No managers. */
export const noManagers: Managed = { sets: new Map(), times: new Map(), read: new Map() };

/** Malformed managed fields. The message is upstream's. */
export class ManagedFieldsError extends Error {}

/** The identity as JSON without empty fields. Upstream sorts managers by this text. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  const nonEmpty = (text: string): string | undefined => (text === "" ? undefined : text);
  const version = operation === "Apply" ? undefined : nonEmpty(apiVersion);
  return JSON.stringify({
    manager: nonEmpty(manager),
    operation,
    apiVersion: version,
    subresource: nonEmpty(subresource),
  });
}

/** Parses a `managerId`. */
export function managerInfo(id: string): ManagerInfo {
  return {
    manager: "",
    apiVersion: "",
    subresource: "",
    ...(JSON.parse(id) as Partial<ManagerInfo> & Pick<ManagerInfo, "operation">),
  };
}

/** @throws ManagedFieldsError */
export function decodeManaged(entries: readonly ManagedFieldsEntry[] = []): Managed {
  const sets = new Map<string, ManagedSet>();
  const times = new Map<string, string>();
  const read = new Map<string, ReadEntry>();
  for (const [index, entry] of entries.entries()) {
    const { manager = "", operation, apiVersion = "", subresource = "", time, fieldsV1 = {} } = entry;
    if (operation !== "Apply" && operation !== "Update")
      throw new ManagedFieldsError("operation must be `Apply` or `Update`");
    if (apiVersion === "") throw new ManagedFieldsError("apiVersion must not be empty");
    checkFieldsType(entry.fieldsType ?? "", index);
    const id = managerId({ manager, operation, apiVersion, subresource });
    const set = decodeSet(fieldsV1);
    sets.set(id, { set, version: apiVersion, applied: operation === "Apply" });
    read.set(id, { set, fieldsV1 });
    if (time !== undefined) times.set(id, time);
    else times.delete(id);
  }
  return { sets, times, read };
}

function checkFieldsType(type: string, index: number): void {
  if (type === "FieldsV1") return;
  if (type === "") throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  throw new ManagedFieldsError(`invalid fieldsType ${quoteGo(type)} in managed fields entry ${index}`);
}

function decodeSet(fieldsV1: Record<string, unknown>): PathSet {
  try {
    return decodeFieldsV1(fieldsV1);
  } catch (error) {
    if (error instanceof FieldsV1Error) throw new ManagedFieldsError(`error decoding set: ${error.message}`);
    throw error;
  }
}

/** @returns undefined when there are no managers */
export function encodeManaged({ sets, times, read }: Managed): ManagedFieldsEntry[] | undefined {
  if (sets.size === 0) return undefined;
  const entries: ManagedFieldsEntry[] = [];
  for (const [id, { set, version, applied }] of sets) {
    const { manager, subresource } = managerInfo(id);
    const time = times.get(id);
    const previous = read.get(id);
    entries.push({
      ...(manager !== "" && { manager }),
      operation: applied ? "Apply" : "Update",
      apiVersion: version,
      ...(time !== undefined && { time }),
      fieldsType: "FieldsV1",
      fieldsV1: previous !== undefined && equalSets(previous.set, set) ? previous.fieldsV1 : encodeFieldsV1(set),
      ...(subresource !== "" && { subresource }),
    });
  }
  return entries.sort(inWrittenOrder);
}

/** The order on the wire: apply managers first, then by time, then by name. */
export function inWrittenOrder(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Seconds since 1970; 0 without a time. */
export function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

function compareText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Sets or removes `metadata.managedFields`.
 * @param entries undefined or empty for none
 */
export function setEntries(
  { metadata }: { readonly metadata: { managedFields?: ManagedFieldsEntry[] } },
  entries: ManagedFieldsEntry[] | undefined,
): void {
  if (entries === undefined || entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = entries;
}

/** Whether only times differ. */
export function sameButTimes(a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean {
  return a.length === b.length && a.every((entry, index) => sameEntry(entry, b[index] as ManagedFieldsEntry));
}

const identity = ["manager", "operation", "apiVersion", "subresource"] as const;

function sameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return identity.every((field) => a[field] === b[field]) && identical(a.fieldsV1, b.fieldsV1);
}
