/** Reads YAML and JSON files as plain data. */
import { readFileSync } from "node:fs";
import { NumberLiteral } from "../../lib/json/exact.ts";
import { isObject, setMember } from "../../lib/json/values.ts";
import { decodeYaml, strictYamlError, YamlError } from "../../lib/yaml/decode.ts";

/** A file cannot be read or is invalid; the message is for the user. */
export class InputError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InputError";
  }
}

export type PlainObject = Readonly<Record<string, unknown>>;

/**
 * Reads all documents of a file except empty ones. Unsafe integers are bigints.
 *
 * @throws InputError
 */
export function readDocuments(file: string, { mebibytesMax, isStrict = false }: DocumentLimits = {}): unknown[] {
  const text = readText(file);
  if (mebibytesMax !== undefined && text.length > mebibytesMax << 20)
    throw new InputError(`${file} has more than ${mebibytesMax} MiB`);
  return documentsOf(text)
    .map((document) => decode(document, file, isStrict))
    .filter((value) => value !== null);
}

/** Limits of {@link readDocument}. */
export interface DocumentLimits {
  /** Bytes of the file; unlimited if unset. */
  readonly mebibytesMax?: number;
  /** Whether a key that is repeated in an object is an error; otherwise its last value counts. */
  readonly isStrict?: boolean;
}

/**
 * Reads the only document of a file.
 *
 * @returns null for an empty file
 * @throws InputError also for several documents
 */
export function readDocument(file: string, limits: DocumentLimits = {}): unknown {
  const documents = readDocuments(file, limits);
  if (documents.length > 1) throw new InputError(`${file} has ${documents.length} documents, but only one is allowed`);
  return documents[0] ?? null;
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new InputError(`${file} cannot be read: ${code}`);
  }
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

function decode(text: string, file: string, isStrict: boolean): unknown {
  try {
    const { value, strictErrors } = decodeYaml(Buffer.from(text));
    if (isStrict && strictErrors.length > 0) throw new InputError(`${file}: ${strictYamlError(strictErrors)}`);
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
