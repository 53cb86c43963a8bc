/** Reads pods and pod controllers from manifests. */
import { parseGroupVersion } from "../../apimachinery/object.ts";
import { setPodDefaults, setPodSpecDefaults } from "../../apis/core/pod/spec-defaults.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Pod } from "../../lib/pod-security/pod.ts";
import { type PodTemplateKind, podOf, podTemplateKinds } from "../../lib/pod-security/pod-templates.ts";
import { conform, DecodeError } from "../../lib/schema/decode.ts";
import { InputError, type PlainObject, readDocuments } from "../cel/documents.ts";

/** A pod or pod controller. */
export interface CheckedObject {
  readonly kind: PodTemplateKind;
  readonly namespace: string | undefined;
  readonly name: string;
  /** Undefined for a controller without a template, which the server allows. */
  readonly pod: Pod | undefined;
}

/** Lists can contain lists. */
const listDepthMax = 16;

/**
 * Reads the pods and pod controllers of all documents of a file, also those in lists, with
 * the defaults that a server sets. Other kinds are ignored.
 *
 * @throws InputError
 */
export function readObjects(file: string): CheckedObject[] {
  return readDocuments(file).flatMap((document) => objectsOf(document, file, 0));
}

/** Describes a decoded object. */
export function checkedObject(object: PlainObject, kind: PodTemplateKind): CheckedObject {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { name = metadata.generateName, namespace } = metadata;
  return {
    kind,
    namespace: typeof namespace === "string" ? namespace : undefined,
    name: String(name ?? ""),
    pod: podOf(object, kind),
  };
}

function objectsOf(document: unknown, file: string, depth: number): CheckedObject[] {
  if (!isObject(document) || typeof document.apiVersion !== "string" || typeof document.kind !== "string")
    throw new InputError(`${file}: an object has no apiVersion or no kind`);
  const { apiVersion, kind, items } = document;
  if (kind.endsWith("List") && Array.isArray(items)) {
    if (depth === listDepthMax) throw new InputError(`${file}: lists are nested more than ${listDepthMax} levels deep`);
    // The items of a list of one kind have no kind.
    const typed = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
    return items.flatMap((item) => objectsOf(isObject(item) ? { ...typed, ...item } : item, file, depth + 1));
  }
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: "", version: "" };
  const found = podTemplateKinds.find((one) => one.group === group && one.kind === kind);
  return found === undefined ? [] : [decode(document, found, version, file)];
}

function decode(document: PlainObject, kind: PodTemplateKind, version: string, file: string): CheckedObject {
  const { name, namespace } = checkedObject(document, { ...kind, path: ["none"] });
  const where = `${file}: ${kind.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const definition = definitionOf(kind.group, version, kind.kind);
  if (definition === undefined) throw new InputError(`${where}: ${kind.kind} has no version ${version}`);
  const { object, problems } = conformTo(document, definition, where);
  if (problems.length > 0) throw new InputError(`${where}: ${problems.join(", ")}`);
  const checked = checkedObject(object, kind);
  if (checked.pod !== undefined) setPodSpecDefaults(checked.pod.spec);
  if (checked.pod !== undefined && kind.kind === "Pod") setPodDefaults(checked.pod.spec);
  return checked;
}

function conformTo(document: PlainObject, definition: string, where: string): ReturnType<typeof conform> {
  try {
    return conform(document, builtinSchema(definition));
  } catch (error) {
    if (error instanceof DecodeError) throw new InputError(`${where}: ${error.message}`);
    throw error;
  }
}
