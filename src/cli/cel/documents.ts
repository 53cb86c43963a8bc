/** Reads YAML and JSON files as plain data. */
import { closeSync, openSync, readSync } from "node:fs";
import { NumberLiteral } from "../../lib/json/number-literal.ts";
import { isObject, setMember } from "../../lib/json/values.ts";
import { decodeYaml, strictYamlError, YamlError } from "../../lib/yaml/decode.ts";
import { reasons } from "../describe-error.ts";

/** A file cannot be read or is invalid; the message is for the user. */
export class InputError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InputError";
  }
}

export type PlainObject = Readonly<Record<string, unknown>>;

/** Larger files are an error; those of a whole cluster can be large. */
const mebibytesMaxDefault = 256;

/**
 * Reads all documents of a file except empty ones. Unsafe integers are bigints.
 *
 * @param mebibytesMax size of the file
 * @throws InputError also for a key that is repeated in an object
 */
export function readDocuments(file: string, mebibytesMax = mebibytesMaxDefault): unknown[] {
  return documentsOf(readText(file, mebibytesMax))
    .map((document) => decode(document, file))
    .filter((value) => value !== null);
}

/**
 * Reads the only document of a file.
 *
 * @returns null for an empty file
 * @throws InputError also for several documents
 */
export function readDocument(file: string, mebibytesMax = mebibytesMaxDefault): unknown {
  const documents = readDocuments(file, mebibytesMax);
  if (documents.length > 1) throw new InputError(`${file} has ${documents.length} documents, but only one is allowed`);
  return documents[0] ?? null;
}

function readText(file: string, mebibytesMax: number): string {
  let opened = 0;
  try {
    if (file !== "-") opened = openSync(file, "r");
    const bytes = readBytes(opened, mebibytesMax << 20);
    if (bytes === undefined) throw new InputError(`${file} has more than ${mebibytesMax} MiB`);
    return bytes.toString();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new InputError(`${file} cannot be read: ${reasons[code] ?? code}`);
  } finally {
    if (opened !== 0) closeSync(opened);
  }
}

/** Also of pipes and devices, which may not end. @returns undefined when there are more */
function readBytes(file: number, bytesMax: number): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= bytesMax; ) {
    const piece = Buffer.allocUnsafe(64 * 1024);
    const bytes = readSync(file, piece);
    if (bytes === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, bytes));
    length += bytes;
  }
  return undefined;
}

/**
 * Splits at lines of `---`. Blank lines replace the earlier documents, so that messages have the
 * right line numbers.
 */
function documentsOf(text: string): string[] {
  const documents: string[] = [];
  let lines = 0;
  for (const part of text.split(/^---(?=\s|$)/m)) {
    documents.push("\n".repeat(lines) + part);
    lines += part.split("\n").length - 1;
  }
  return documents;
}

function decode(text: string, file: string): unknown {
  try {
    const { value, strictErrors } = decodeYaml(Buffer.from(text));
    if (strictErrors.length > 0) throw new InputError(`${file}: ${strictYamlError(strictErrors)}`);
    return plain(value);
  } catch (error) {
    if (error instanceof YamlError) throw new InputError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Converts number literals. The decoder bounds the depth of values. */
function plain(value: unknown): unknown {
  if (value instanceof NumberLiteral) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const object = {};
  for (const [key, member] of Object.entries(value)) setMember(object, key, plain(member));
  return object;
}
