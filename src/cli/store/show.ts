/** `coxswain store get`, `list`, `history` and `stats`: displays a store without a server. */

import { printable } from "../../lib/json/printable.ts";
import { yamlOfJson } from "../../lib/yaml/encode.ts";
import type { CopiedEntry, StoreReader } from "../../storage/copy/contract.ts";
import type { Output } from "../output.ts";
import { exitDamaged, exitWhole } from "./contract.ts";
import type { ObjectDecoder } from "./objects/decode-object.ts";
import { type ReaderFiles, withReader } from "./open-reader.ts";
import { formatTable } from "./table.ts";

export type ShownFormat = "text" | "json" | "yaml" | "raw";

/** Options of the commands. */
export interface ShowOptions extends ReaderFiles {
  readonly output: ShownFormat;
}

/**
 * Runs `coxswain store get`.
 * @returns the exit code
 * @throws Error when the key is absent, damaged, or cannot be decoded
 */
export function getKey(store: string, key: string, options: ShowOptions, { out }: Output): Promise<number> {
  return withReader(store, options, async (reader) => {
    const entry = await reader.entry(key);
    if (entry === undefined) throw new Error(`${printable(key)} is absent`);
    if (entry.damage !== undefined) throw new Error(`${printable(key)} is damaged: ${entry.damage}`);
    if (options.output === "raw") await writeBytes(entry.value);
    else {
      const json = (await openDecoder()).decode(entry);
      out(options.output === "yaml" ? yamlOfJson(json) : `${json}\n`);
    }
    return exitWhole;
  });
}

/** Writes bytes that need not be text to standard output. */
function writeBytes(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Runs `coxswain store list`. @returns the exit code */
export function listKeys(store: string, prefix: string, options: ShowOptions, { out }: Output): Promise<number> {
  return withReader(store, options, async (reader) => {
    const decoder = options.output === "text" ? undefined : await openDecoder();
    let code = exitWhole;
    for await (const entry of entriesOf(reader, prefix)) {
      const { text, isWhole } = formatEntry(entry, options.output, decoder);
      out(text);
      if (!isWhole) code = exitDamaged;
    }
    return code;
  });
}

/** Runs `coxswain store history`. @returns the exit code */
export function showHistory(store: string, key: string, options: ShowOptions, { out }: Output): Promise<number> {
  return withReader(store, options, async (reader) => {
    const decoder = options.output === "text" ? undefined : await openDecoder();
    let code = exitWhole;
    for await (const { revision, value } of reader.history(key)) {
      if (value === null) out(formatDeletion(key, revision, options.output));
      else {
        const { text, isWhole } = formatEntry({ key, revision, value }, options.output, decoder);
        out(text);
        if (!isWhole) code = exitDamaged;
      }
    }
    return code;
  });
}

interface ResourceSize {
  objects: number;
  bytes: number;
  largest: number;
  damaged: number;
}

/** Runs `coxswain store stats`. @returns the exit code */
export function showStats(store: string, options: ShowOptions, { out }: Output): Promise<number> {
  return withReader(store, options, async (reader) => {
    const { resourcesOfKeys } = await import("../../catalog/resource-of-key.ts");
    const resourceOf = resourcesOfKeys();
    const sizes = new Map<string, ResourceSize>();
    for await (const { key, value, damage } of entriesOf(reader, "/registry/")) {
      const resource = resourceOf(key);
      const size = sizes.get(resource) ?? { objects: 0, bytes: 0, largest: 0, damaged: 0 };
      sizes.set(resource, size);
      size.objects++;
      size.bytes += value.length;
      size.largest = Math.max(size.largest, value.length);
      if (damage !== undefined) size.damaged++;
    }
    const resources = [...sizes]
      .map(([resource, size]) => ({ resource, ...size }))
      .sort((a, b) => b.bytes - a.bytes || (a.resource < b.resource ? -1 : 1));
    const whole = { revision: await reader.current(), databaseBytes: await reader.sizeBytes() };
    if (options.output === "json") out(`${JSON.stringify({ ...whole, resources }, undefined, 2)}\n`);
    else {
      out(`Revision ${whole.revision}, database of ${whole.databaseBytes} bytes\n`);
      const rows = resources.map(({ resource, objects, bytes, largest }) =>
        [printable(resource), objects, bytes, largest].map(String),
      );
      out(formatTable([["RESOURCE", "OBJECTS", "BYTES", "LARGEST"], ...rows]));
    }
    return resources.some(({ damaged }) => damaged > 0) ? exitDamaged : exitWhole;
  });
}

/** Iterates over the keys with a prefix. */
async function* entriesOf(reader: StoreReader, prefix: string): AsyncGenerator<CopiedEntry> {
  const first = prefix.endsWith("/") ? undefined : await reader.entry(prefix);
  if (first !== undefined) yield first;
  for (let after: string | undefined = prefix; after !== undefined; ) {
    const { entries, until } = await reader.page(after);
    for (const entry of entries) {
      if (!entry.key.startsWith(prefix)) return;
      yield entry;
    }
    after = until;
  }
}

async function openDecoder(): Promise<ObjectDecoder> {
  return (await import("./objects/decode-object.ts")).openDecoder();
}

interface Formatted {
  readonly text: string;
  readonly isWhole: boolean;
}

function formatEntry(entry: CopiedEntry, format: ShownFormat, decoder: ObjectDecoder | undefined): Formatted {
  const { key, revision, value, expiresAt } = entry;
  const { json, problem } = decoded(entry, decoder);
  const isWhole = problem === undefined;
  if (format === "text")
    return {
      text: `${revision}\t${value.length}\t${printable(key)}${isWhole ? "" : `\t${printable(problem)}`}\n`,
      isWhole,
    };
  const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
  const head = JSON.stringify({ key, revision, ...expiry, ...(problem !== undefined && { problem }) });
  const line = json === undefined ? head : `${head.slice(0, -1)},"object":${json}}`;
  return { text: format === "yaml" ? `---\n${yamlOfJson(Buffer.from(line))}` : `${line}\n`, isWhole };
}

/** A value that cannot be decoded is reported, like a damaged one, and the next ones are displayed. */
function decoded(
  entry: CopiedEntry,
  decoder: ObjectDecoder | undefined,
): { readonly json?: Buffer; readonly problem?: string } {
  if (entry.damage !== undefined) return { problem: entry.damage };
  if (decoder === undefined) return {};
  try {
    return { json: decoder.decode(entry) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function formatDeletion(key: string, revision: number, format: ShownFormat): string {
  if (format === "text") return `${revision}\tdeleted\t${printable(key)}\n`;
  const line = JSON.stringify({ key, revision, deleted: true });
  return format === "yaml" ? `---\n${yamlOfJson(Buffer.from(line))}` : `${line}\n`;
}
