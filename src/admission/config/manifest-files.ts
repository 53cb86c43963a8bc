/**
 * Reads the files of a directory of static manifests.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/manifest/loader.go.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";

/** The files of a directory. */
export interface ManifestFiles {
  /** In order of the names of the files. */
  readonly documents: readonly ManifestDocument[];
  /** `sha256:…` of the contents; empty without content. */
  readonly hash: string;
}

/** A YAML or JSON document of a file. */
export interface ManifestDocument {
  readonly file: string;
  readonly bytes: Buffer;
}

const extensions: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"]);
/** The limit for all files of a directory together. */
const bytesMax = 64 * 2 ** 20;
/** The limit for the entries of a directory. */
const entriesMax = 10_000;

/**
 * Reads the YAML and JSON files of a directory, but not of its subdirectories.
 *
 * @throws Error with upstream's message; also when the files exceed a limit
 */
export async function readManifestFiles(directory: string): Promise<ManifestFiles> {
  const documents: ManifestDocument[] = [];
  const hash = createHash("sha256");
  let bytesRead = 0;
  for (const name of await fileNames(directory)) {
    const file = join(directory, name);
    const content = await readFile(file);
    if (content.length === 0) continue;
    bytesRead += content.length;
    if (bytesRead > bytesMax) throw new Error(`the files of ${quoteGo(directory)} have more than ${bytesMax} bytes`);
    hash.update(content).update("\0");
    for (const bytes of split(content, file)) documents.push({ file, bytes });
  }
  return { documents, hash: bytesRead === 0 ? "" : `sha256:${hash.digest("hex")}` };
}

async function fileNames(directory: string): Promise<string[]> {
  const names = await entries(directory);
  if (names.length > entriesMax) throw new Error(`${quoteGo(directory)} has more than ${entriesMax} entries`);
  return names.filter((name) => extensions.has(extensionOf(name).toLowerCase())).sort(byBytes);
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** As Go's filepath.Ext: the extension of `.yaml` is `.yaml`. */
function extensionOf(name: string): string {
  return extname(`-${name}`);
}

async function entries(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory, { withFileTypes: true }))
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    const problem = fileProblem(error, directory);
    if (problem === undefined) throw error;
    throw new Error(`failed to read manifest directory ${quoteGo(directory)}: ${problem}`);
  }
}

async function readFile(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file, { waitMs: 0 });
  } catch (error) {
    const problem = fileProblem(error, file);
    if (problem === undefined) throw error;
    throw new Error(`failed to read file ${quoteGo(file)}: ${problem}`);
  }
}

/**
 * Splits a file at lines that start with `---`, like the YAMLReader of
 * k8s.io/apimachinery@v0.36.0/pkg/util/yaml/decoder.go: a separator before the first line of a
 * document belongs to the document.
 */
function split(content: Buffer, file: string): Buffer[] {
  const documents: Buffer[] = [];
  let start = 0;
  for (let line = 0; line < content.length; line = endOfLine(content, line)) {
    if (!isSeparator(content, line, file) || line === start) continue;
    documents.push(trim(content.subarray(start, line)));
    start = endOfLine(content, line);
  }
  documents.push(trim(content.subarray(start)));
  return documents.filter(({ length }) => length > 0);
}

function endOfLine(content: Buffer, line: number): number {
  const end = content.indexOf("\n", line);
  return end === -1 ? content.length : end + 1;
}

/** @throws Error when text other than a comment follows the separator */
function isSeparator(content: Buffer, line: number, file: string): boolean {
  if (content.toString("latin1", line, line + 3) !== "---") return false;
  const rest = trim(content.subarray(line + 3, endOfLine(content, line))).toString();
  if (rest === "" || rest.startsWith("#")) return true;
  const problem = `invalid Yaml document separator: ${rest}`;
  throw new Error(`failed to split YAML documents in file ${quoteGo(file)}: ${problem}`);
}

function trim(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start] as number)) start++;
  while (end > start && isSpace(bytes[end - 1] as number)) end--;
  return bytes.subarray(start, end);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
