/** Files that users name, as plain data. */
import { readFileSync } from "node:fs";
import { NumberLiteral } from "../../lib/json/exact.ts";
import { isObject, setMember } from "../../lib/json/values.ts";
import { decodeYaml, YamlError } from "../../lib/yaml/decode.ts";

/** A file cannot be read, or is not what it should be; the message is for the user. */
export class InputError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InputError";
  }
}

export type PlainObject = Readonly<Record<string, unknown>>;

/** All documents of a file, empty ones left out. Numbers are numbers, integers that are not safe bigints. @throws InputError */
export function readDocuments(file: string): unknown[] {
  const text = readText(file);
  return documentsOf(text)
    .map((document) => decode(document, file))
    .filter((value) => value !== null);
}

/** The only document of a file. @throws InputError */
export function readDocument(file: string): unknown {
  const documents = readDocuments(file);
  if (documents.length > 1) throw new InputError(`${file} has ${documents.length} documents; one is wanted`);
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

/** Documents are parted by lines of `---`. Blank lines keep the numbers of lines in messages right. */
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
    return plain(decodeYaml(Buffer.from(text)).value);
  } catch (error) {
    if (error instanceof YamlError) throw new InputError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Decoded values nest no deeper than the decoder lets them. */
function plain(value: unknown): unknown {
  if (value instanceof NumberLiteral) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const object = {};
  for (const [key, member] of Object.entries(value)) setMember(object, key, plain(member));
  return object;
}
