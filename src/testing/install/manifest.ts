/** Reads the objects of manifests: YAML with several documents, JSON, and lists. */
import { encodeAny } from "../../lib/json/encode-any.ts";
import { JsonSyntaxError } from "../../lib/json/parse.ts";
import { isObject } from "../../lib/json/values.ts";
import { decodeYaml, YamlError } from "../../lib/yaml/decode.ts";
import { splitDocuments, type YamlDocument } from "../../lib/yaml/split-documents.ts";
import { ManifestError } from "./manifest-error.ts";

/** Bytes of all manifests of one installation. */
export const manifestBytesMax = 16 << 20;
/** Objects of one installation. */
const objectsMax = 1000;
/** Characters of JSON of one manifest: aliases can repeat what the bytes have once. */
const jsonLengthMax = 64 << 20;
/** Lists within lists. */
const listDepthMax = 5;

/** An object that is not installed yet. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for the namespace of the installation, and for objects without one. */
  readonly namespace: string;
  /** Empty for objects whose name the server generates. */
  readonly name: string;
  /** The object as JSON. */
  readonly json: string;
  /** Where it comes from, for messages, such as `crds.yaml, line 12`. */
  readonly place: string;
}

/**
 * Reads a YAML stream, or JSON.
 *
 * @param source its name in messages, such as that of a file
 * @throws ManifestError when it is not valid
 */
export function readManifest(bytes: Buffer, source: string): ManifestObject[] {
  const documents = documentsOf(bytes, source);
  if (documents.length > objectsMax) throw new ManifestError(source, tooMany(documents.length));
  const objects: ManifestObject[] = [];
  let length = 0;
  for (const document of documents) {
    const place = `${source}, line ${document.line}`;
    const found = objectsIn(decoded(document, place), place);
    for (const { json } of found) length += json.length;
    if (length > jsonLengthMax) throw new ManifestError(place, "aliases make too much of the text");
    objects.push(...found);
  }
  return objects;
}

/**
 * Reads an object of a program, or a list.
 *
 * @param place its name in messages
 * @throws ManifestError when it is not valid
 */
export function readObject(value: unknown, place: string): ManifestObject[] {
  return objectsIn(value, place);
}

/** @throws ManifestError when there are more than an installation may have, or none */
export function checkCount(objects: readonly ManifestObject[], source: string): void {
  if (objects.length === 0) throw new ManifestError(source, "there is no object in it");
  if (objects.length > objectsMax) throw new ManifestError(source, tooMany(objects.length));
}

function tooMany(count: number): string {
  return `there are ${count} objects; ${objectsMax} can be installed together`;
}

/** @throws ManifestError for bytes that are no text */
function documentsOf(bytes: Buffer, source: string): readonly YamlDocument[] {
  try {
    return splitDocuments(bytes);
  } catch (error) {
    if (error instanceof YamlError) throw new ManifestError(source, error.message);
    throw error;
  }
}

/** @throws ManifestError when it is not valid YAML; a field that is there twice is an error, too */
function decoded({ bytes }: YamlDocument, place: string): unknown {
  try {
    const { value, strictErrors } = decodeYaml(bytes);
    if (strictErrors.length > 0) throw new ManifestError(place, strictErrors.join("; "));
    return value;
  } catch (error) {
    if (error instanceof YamlError || error instanceof JsonSyntaxError) throw new ManifestError(place, error.message);
    throw error;
  }
}

/** @throws ManifestError */
function objectsIn(value: unknown, place: string, depth = 0): ManifestObject[] {
  if (depth > listDepthMax) throw new ManifestError(place, "lists are within lists too often");
  const inList = (items: readonly unknown[], of: string): ManifestObject[] =>
    items.flatMap((item, index) => objectsIn(item, `${of}[${index}]`, depth + 1));
  if (value === null) return [];
  if (Array.isArray(value)) return inList(value, place);
  if (!isObject(value)) throw new ManifestError(place, "must be an object");
  const { kind, items } = value;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return inList(items, `${place}, items`);
  return [objectOf(value, place)];
}

/** @throws ManifestError */
function objectOf(value: Record<string, unknown>, place: string): ManifestObject {
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || apiVersion === "" || typeof kind !== "string" || kind === "")
    throw new ManifestError(place, "needs the fields apiVersion and kind");
  if (apiVersion.startsWith("kustomize.config.k8s.io/"))
    throw new ManifestError(place, "this is input of kustomize: install the output of `kustomize build`");
  const { name = "", generateName = "", namespace = "" } = isObject(metadata) ? metadata : {};
  const texts = { name, generateName, namespace };
  for (const [field, text] of Object.entries(texts))
    if (typeof text !== "string") throw new ManifestError(place, `metadata.${field}: must be a string`);
  if (name === "" && generateName === "") throw new ManifestError(place, `the ${kind} has no metadata.name`);
  return { apiVersion, kind, namespace: namespace as string, name: name as string, json: encodeAny(value), place };
}
