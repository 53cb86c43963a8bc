/**
 * Decodes stored values of every kind and encoding for people and programs. Loaded on demand,
 * because it needs the tables of all kinds.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { parseGroupVersion } from "../../../apimachinery/object.ts";
import { builtinConversions, builtinStrategies, storedConversions } from "../../../apis/index.ts";
import { builtinDefinitions } from "../../../catalog/builtin-definitions.ts";
import { builtinSchema, definitionOf } from "../../../catalog/builtin-schemas.ts";
import type { ResourceDefinition } from "../../../catalog/contract.ts";
import { readEncoded } from "../../../catalog/stored-encodings.ts";
import { decodeValue } from "../../../catalog/stored-value.ts";
import { decodeAnyCbor } from "../../../lib/cbor/decode.ts";
import { selfDescribed } from "../../../lib/cbor/wire.ts";
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { parseJson } from "../../../lib/json/parse.ts";
import { hasMagic } from "../../../lib/protobuf/envelope.ts";
import { DecodeError } from "../../../lib/schema/decode.ts";
import { encodeObject } from "../../../lib/schema/encode.ts";
import { checkNotEncrypted } from "../../../storage/encrypted-value.ts";

/** A stored value. */
export interface StoredValue {
  readonly key: string;
  readonly revision: number;
  readonly value: Buffer;
}

/** Decodes values to JSON. */
export interface ObjectDecoder {
  /**
   * @returns the object at the storage version, with its resourceVersion
   * @throws Error with the reason when the value cannot be decoded
   */
  decode(stored: StoredValue): Buffer;
}

export function openDecoder(): ObjectDecoder {
  const served = { serves: () => true };
  const options = { strategies: builtinStrategies, conversions: builtinConversions, storedConversions, served };
  const definitions = new Map<string, ResourceDefinition>();
  for (const definition of builtinDefinitions(options)) {
    const prefix = definition.storage?.prefix;
    if (prefix !== undefined && !definitions.has(prefix)) definitions.set(prefix, definition);
  }
  return {
    decode(stored) {
      checkNotEncrypted(stored.value);
      const prefix = parentPrefixes(stored.key).find((one) => definitions.has(one));
      const definition = prefix === undefined ? undefined : definitions.get(prefix);
      return definition === undefined ? decodeOther(stored) : decodeBuiltin(stored, definition);
    },
  };
}

function decodeBuiltin({ key, revision, value }: StoredValue, definition: ResourceDefinition): Buffer {
  const form = definition.storage as NonNullable<ResourceDefinition["storage"]>;
  const { object, schema } = decodeValue(value, { form, definition, gates: undefined });
  // As a server displays an object that was stored without metadata.
  object.metadata ??= {};
  object.metadata.name ??= key.slice(key.lastIndexOf("/") + 1);
  return spliced(encodeObject(object, schema), revision);
}

function spliced({ json, versionOffset }: ReturnType<typeof encodeObject>, revision: number): Buffer {
  if (versionOffset === 0) return json;
  const version = Buffer.from(`"resourceVersion":"${revision}",`);
  return Buffer.concat([json.subarray(0, versionOffset), version, json.subarray(versionOffset)]);
}

/** Custom resources, and built-in objects that are no resource, such as allocated ranges. */
function decodeOther(stored: StoredValue): Buffer {
  const { value, revision } = stored;
  const object = hasMagic(value)
    ? decodeProtobuf(stored)
    : value.subarray(0, selfDescribed.length).equals(selfDescribed)
      ? decodeAnyCbor(value)
      : (parseJson(value).value as Record<string, unknown>);
  const { metadata } = object;
  if (typeof metadata === "object" && metadata !== null)
    (metadata as Record<string, unknown>).resourceVersion = String(revision);
  return Buffer.from(encodeAny(object));
}

function decodeProtobuf({ value }: StoredValue): Record<string, unknown> {
  const { apiVersion, kind, decode } = readEncoded(value);
  const named = parseGroupVersion(apiVersion);
  const definition = named && definitionOf(named.group, named.version, kind);
  if (definition === undefined) throw new DecodeError(`no message is known for ${apiVersion} ${kind}`);
  const schema = builtinSchema(definition);
  const object = { ...decode(schema), apiVersion, kind } as unknown as KubeObject;
  return parseJson(encodeObject(object, schema).json).value as Record<string, unknown>;
}

/** The prefixes of a key that end with a slash, longest first. */
function parentPrefixes(key: string): string[] {
  const prefixes: string[] = [];
  for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1)) prefixes.push(key.slice(0, at + 1));
  return prefixes;
}
