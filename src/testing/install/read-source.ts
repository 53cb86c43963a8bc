/** Reads what a test installs: files, folders, text, and objects. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import type { InstallSource } from "./contract.ts";
import { checkCount, type ManifestObject, manifestBytesMax, readManifest, readObject } from "./manifest.ts";
import { ManifestError } from "./manifest-error.ts";

const manifestName = /\.(?:ya?ml|json)$/;

/**
 * Reads everything before anything is installed.
 * @throws ManifestError when something is not valid, missing, too large, or on the network
 */
export async function readSource(source: InstallSource): Promise<ManifestObject[]> {
  const all = Array.isArray(source) ? (source as readonly InstallSource[]) : [source as InstallSource];
  const objects: ManifestObject[] = [];
  const budget = { bytes: manifestBytesMax };
  for (const [index, one] of all.entries()) objects.push(...(await readOne(one, `objects[${index}]`, budget)));
  checkCount(objects, "what is installed");
  return objects;
}

interface Budget {
  bytes: number;
}

async function readOne(source: InstallSource, place: string, budget: Budget): Promise<ManifestObject[]> {
  if (isUrl(source)) return readPath(pathOf(new URL(source.href)), budget);
  if (typeof source !== "string") return readObject(JSON.parse(JSON.stringify(source ?? null)), place);
  if (source.includes("\n")) return readManifest(spend(Buffer.from(source), "the text", budget), "the text");
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(source)) return readPath(pathOf(new URL(source)), budget);
  return readPath(source, budget);
}

/** A test runner can have another class `URL`. */
function isUrl(source: InstallSource): source is { readonly href: string } {
  return (
    typeof source === "object" &&
    source !== null &&
    "href" in source &&
    "protocol" in source &&
    typeof source.href === "string"
  );
}

function pathOf(url: URL): string {
  if (url.protocol !== "file:") throw new ManifestError(url.href, "nothing is read from the network: install a file");
  return fileURLToPath(url);
}

/** Of a folder, all manifests directly in it, by their names. */
async function readPath(path: string, budget: Budget): Promise<ManifestObject[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    (error: Error) => {
      throw new ManifestError(path, error.message);
    },
  );
  if (!isFolder) return readFile(path, budget);
  const names = (await readdir(path)).filter((name) => manifestName.test(name)).sort();
  if (names.length === 0) throw new ManifestError(path, "there is no .yaml, .yml or .json file in the folder");
  const objects: ManifestObject[] = [];
  for (const name of names) objects.push(...(await readFile(join(path, name), budget)));
  return objects;
}

async function readFile(path: string, budget: Budget): Promise<ManifestObject[]> {
  const bytes = await readBoundedFile(path, { bytesMax: manifestBytesMax }).catch((error: Error) => {
    throw new ManifestError(path, error.message);
  });
  return readManifest(spend(bytes, path, budget), path);
}

function spend(bytes: Buffer, place: string, budget: Budget): Buffer {
  budget.bytes -= bytes.length;
  if (budget.bytes < 0)
    throw new ManifestError(place, `more than ${manifestBytesMax >> 20} MiB cannot be installed together`);
  return bytes;
}
