/**
 * The encodings in which a store that is shared with kube-apiserver keeps objects. Sources:
 * `k8s.io/apiserver@v0.36.0/pkg/server/options/etcd.go`; `NewCRDRESTOptionsGetter` in
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/cmd/server/options/options.go`.
 */
import {
  formatGroupVersion,
  type GroupVersionKind,
  type KubeObject,
  parseGroupVersion,
} from "../apimachinery/object.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource, ResourceStore, StorageForm } from "../catalog/contract.ts";
import { ownSchemes } from "../catalog/go-scheme.ts";
import { storedDefinitionOf } from "../catalog/stored-kinds.ts";
import { encodeAnyCbor } from "../lib/cbor/encode.ts";
import { encodeProtobuf } from "../lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../lib/protobuf/envelope.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import { yamlOfJson } from "../lib/yaml/encode.ts";
import type { Stored, Write } from "../storage/contract.ts";
import { EncryptedValue } from "../storage/encrypted-value.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { readable } from "../watch-cache/unreadable.ts";
import type { RegistryContext, SharedEncoding } from "./contract.ts";

/**
 * Encodes an object for a shared store. Custom resources are JSON or CBOR; definitions and
 * APIServices, which upstream serves with separate codecs, are always JSON.
 *
 * @param object at the storage version; its resourceVersion is not encoded
 * @param json the same object
 * @returns the member `shared` of a write; none when the JSON itself is stored
 */
export function sharedForm(
  encoding: SharedEncoding,
  resource: Resource,
  object: KubeObject,
  json: Buffer,
): Pick<Write, "shared"> {
  const older = encodeOlder(resource, object);
  const shared = older ?? encodeShared(encoding, storeOf(resource).form, object, json);
  return shared === undefined ? {} : { shared };
}

/**
 * Whether a write would store the bytes that are stored. In a shared store they can differ for the
 * same object, at an older version or in another encoding, in an encrypted one with another key, and
 * those of a custom resource in each store, at another version; a write of the object replaces them
 * then, as upstream's does.
 * @throws ApiError 500 when what is stored cannot be decrypted · StorageUnavailable
 */
export async function isStoredAs(
  { storage, sharedEncoding }: Pick<RegistryContext, "storage" | "sharedEncoding">,
  { form, fingerprint, source }: ResourceStore,
  { key, revision }: Entry,
  { value, shared }: Write,
): Promise<boolean> {
  const differs = sharedEncoding !== undefined || form.schema.custom !== undefined || storage.encrypts?.(key) === true;
  if (!differs) return true;
  const stored = await storage.get(key);
  if (stored?.revision !== revision) return false; // The commit reports the conflict.
  readable(stored, checkDecrypted, source);
  if (stored.isStale === true) return false;
  if (stored.seal?.fingerprint === fingerprint) return true;
  const written = (shared ?? value) as Buffer;
  // Upstream ends JSON with a line feed.
  return stored.value.equals(written) || (shared === undefined && stored.value.equals(withLineFeed(written)));
}

/** @throws EncryptedValue */
function checkDecrypted({ unreadable }: Stored): void {
  if (unreadable !== undefined) throw new EncryptedValue(unreadable);
}

const withLineFeed = (json: Buffer): Buffer => Buffer.concat([json, lineFeed]);
const lineFeed = Buffer.from("\n");

/**
 * Encodes an object at its storage version.
 * @returns undefined when the JSON itself is stored
 */
export function encodeShared(
  { mediaType, customCbor }: SharedEncoding,
  form: Pick<StorageForm, "group" | "version" | "kind" | "schema">,
  object: KubeObject,
  json: Buffer,
): Buffer | undefined {
  if (form.schema.custom !== undefined) return customCbor ? encodeAnyCbor(unversioned(object), json.length) : undefined;
  if (ownSchemes.has(form.group)) return undefined;
  switch (mediaType) {
    case "application/json":
      return undefined;
    case "application/yaml":
      return encodeYaml(json);
    case "application/vnd.kubernetes.protobuf": {
      const message = encodeProtobuf(unversioned(object), form.schema, { expectedBytes: json.length });
      return wrapInEnvelope(formatGroupVersion(form.group, form.version), form.kind, message);
    }
  }
}

/** Line breaks of Unicode, after which upstream's YAML lacks a line feed and cannot be read. */
const unusualBreaks = /[\u0085\u2028\u2029]/;

/** @returns undefined for objects that remain JSON, which is YAML too */
function encodeYaml(json: Buffer): Buffer | undefined {
  const text = yamlOfJson(json);
  return unusualBreaks.test(text) ? undefined : Buffer.from(text);
}

/** @returns the JSON at the version at which upstream stores the object, if it is not the storage version */
function encodeOlder(
  { definition: { storedConversions = {}, kind } }: Resource,
  object: KubeObject,
): Buffer | undefined {
  for (const [apiVersion, { toShared }] of Object.entries(storedConversions)) {
    if (toShared === undefined) continue;
    const { group, version } = parseGroupVersion(apiVersion) as GroupVersionKind;
    const schema = builtinSchema(storedDefinitionOf(group, version, kind) as string);
    return encodeObject({ ...toShared(object), apiVersion }, schema).json;
  }
  return undefined;
}

function unversioned(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined) return object;
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
