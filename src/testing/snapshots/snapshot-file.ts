/**
 * Files of snapshots: a line that names the format, the SHA-256 of all bytes after it, then the state. Little-endian.
 *
 * state: u32 bytes of the head · the head as JSON · for each object f64 position · u32 bytes of the record · the record
 * as the storage engine on disk has it
 */
import { createHash } from "node:crypto";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { orderedKey } from "../../lib/persistent-tree/ordered-key.ts";
import { Tree } from "../../lib/persistent-tree/tree.ts";
import type { ServerKeys, ServerSnapshot } from "../../server/server.ts";
import { type Change, type Expiry, revisionOf } from "../../storage/embedded/ledger.ts";
import { readRecord, recordBytesMax, recordProblem, writeRecord } from "../../storage/lmdb/record.ts";

const formatVersion = 1;
const name = Buffer.from(`coxswain snapshot ${formatVersion}\n`);
const anyName = /^coxswain snapshot (\d{1,9})\n/;
const digestBytes = 32;
/** Before each record. */
const recordHeaderBytes = 12;
/** The largest file that is read. */
const fileBytesMax = 1 << 30;

/** The beginning of the state. */
interface Head {
  readonly revision: number;
  readonly objects: number;
  /** Approximate bytes of memory of the objects. */
  readonly bytes: number;
  readonly expiries: readonly Expiry[];
  readonly keys: ServerKeys;
}

/**
 * Writes the file, which only its owner can read and write, because it has private keys and Secrets.
 * @throws Error of the system when it cannot be written; a file of this name is unchanged then
 */
export async function saveSnapshot(file: string, snapshot: ServerSnapshot): Promise<void> {
  const state = Buffer.concat(statePieces(snapshot));
  await writeFileAtomically(file, Buffer.concat([name, digestOf(state), state]), 0o600);
}

/**
 * Reads a file that {@link saveSnapshot} has written.
 * @throws Error when it is damaged, incomplete, not a snapshot, or one of a newer version
 */
export async function readSnapshot(file: string): Promise<ServerSnapshot> {
  const bytes = await readBoundedFile(file, { bytesMax: fileBytesMax });
  const version = anyName.exec(bytes.toString("latin1", 0, name.length + digestBytes))?.[1];
  if (version === undefined) throw new Error(`${file} is not a snapshot of a test server`);
  if (Number(version) !== formatVersion)
    throw new Error(
      `the snapshot ${file} has version ${version} of its format; this version of Coxswain reads version ${formatVersion}`,
    );
  const state = bytes.subarray(name.length + digestBytes);
  if (!digestOf(state).equals(bytes.subarray(name.length, name.length + digestBytes)))
    throw new Error(`the snapshot ${file} is damaged: its checksum does not match`);
  try {
    return readState(state);
  } catch (cause) {
    throw new Error(`the snapshot ${file} is damaged: ${(cause as Error).message}`, { cause });
  }
}

function digestOf(state: Buffer): Buffer {
  return createHash("sha256").update(state).digest();
}

function statePieces({ state: { revision, puts, expiries, bytes }, keys }: ServerSnapshot): Buffer[] {
  const head: Head = { revision, objects: puts.size, bytes, expiries, keys };
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return [length, json, ...Array.from(puts.values("", undefined), pieceOf)];
}

function pieceOf(change: Change): Buffer {
  const bytes = Buffer.alloc(recordHeaderBytes + recordBytesMax(change));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = writeRecord(change, { bytes, view }, recordHeaderBytes, false);
  bytes.writeDoubleLE(change.position, 0);
  bytes.writeUInt32LE(end - recordHeaderBytes, 8);
  return bytes.subarray(0, end);
}

function readState(state: Buffer): ServerSnapshot {
  const start = 4 + state.readUInt32LE(0);
  const { revision, objects, bytes, expiries, keys } = JSON.parse(state.toString("utf8", 4, start)) as Head;
  const puts: [string, Change][] = [];
  for (let at = start; at < state.length; ) {
    const position = state.readDoubleLE(at);
    const from = at + recordHeaderBytes;
    at = from + state.readUInt32LE(at + 8);
    const record = state.subarray(from, at);
    const problem = recordProblem(position, record, { uncheckedUntil: 0 });
    if (problem !== undefined) throw new Error(problem);
    const change = readRecord(position, record);
    const key = orderedKey(change.key);
    if (revisionOf(position) > revision || key <= (puts.at(-1)?.[0] ?? ""))
      throw new Error("its objects are not in order");
    puts.push([key, change]);
  }
  if (puts.length !== objects) throw new Error("objects are missing");
  return { state: { revision, puts: Tree.fromSorted(puts), expiries, bytes }, caches: new Map(), keys };
}
