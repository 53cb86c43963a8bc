/**
 * Decodes stored values in every encoding in which kube-apiserver stores objects, at every version
 * that it reads. Sources: `NewStorageCodec` in
 * `k8s.io/apiserver@v0.36.0/pkg/server/storage/storage_codec.go`; for custom resources,
 * `NewCRDRESTOptionsGetter` in
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/cmd/server/options/options.go`.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import {
  formatGroupVersion,
  type GroupVersionKind,
  type KubeObject,
  parseGroupVersion,
} from "../apimachinery/object.ts";
import { decodeAnyCbor } from "../lib/cbor/decode.ts";
import { CborError, selfDescribed } from "../lib/cbor/wire.ts";
import { peekTypeMeta, TypeMetaError } from "../lib/json/parse.ts";
import { ProtobufError } from "../lib/protobuf/reader.ts";
import { DecodeError, decodeStored, restoreStored } from "../lib/schema/decode.ts";
import { applyDefaults } from "../lib/schema/defaults.ts";
import type { CustomForm, Struct } from "../lib/schema/schema.ts";
import { builtinSchema, definitionOf } from "./builtin-schemas.ts";
import type { ResourceDefinition, StorageForm, StoredConversion } from "./contract.ts";
import { internalPackage, notRegistered, ownSchemes, unknownConversion } from "./go-scheme.ts";
import { type EncodedObject, readEncoded } from "./stored-encodings.ts";
import { storedDefinitionOf } from "./stored-kinds.ts";

/** A kind whose stored values are decoded. */
export interface StoredKind {
  readonly form: StorageForm;
  readonly definition: ResourceDefinition;
  readonly gates: FeatureGates | undefined;
}

/** A decoded value, and the schema that encodes it. */
export interface DecodedValue {
  readonly object: KubeObject;
  readonly schema: Struct;
}

/**
 * Decodes a value to the object at the storage version, with the defaults of the version at which it
 * was stored. Objects of a custom resource with a conversion webhook keep their version.
 *
 * @throws DecodeError with upstream's message for any value that cannot be decoded
 * @throws JsonSyntaxError when the value should be JSON and is not
 */
export function decodeValue(value: Buffer, kind: StoredKind): DecodedValue {
  try {
    const { custom } = kind.form.schema;
    return custom === undefined ? decodeBuiltin(value, kind) : decodeCustom(value, kind);
  } catch (error) {
    if (error instanceof ProtobufError || error instanceof CborError || error instanceof TypeMetaError)
      throw new DecodeError(error.message);
    throw error;
  }
}

function decodeBuiltin(value: Buffer, kind: StoredKind): DecodedValue {
  const { form, definition, gates } = kind;
  const encoded = readEncoded(value);
  const { schema, conversion } = versionOf(encoded, kind);
  const decoded = encoded.decode(schema) as KubeObject;
  decoded.metadata ??= {};
  const hasSameDefaults = conversion?.setsAllDefaults !== true;
  if (hasSameDefaults) applyDefaults(decoded, schema);
  const object = conversion?.toStorage(decoded) ?? decoded;
  if (hasSameDefaults) {
    definition.strategy.setDefaults(object, gates);
    definition.strategy.setStoredDefaults(object);
  }
  object.kind = form.kind;
  object.apiVersion = formatGroupVersion(form.group, form.version);
  return { object, schema: form.schema };
}

/** A version at which objects of a kind can be stored. */
interface StoredVersion {
  readonly schema: Struct;
  readonly conversion: StoredConversion | undefined;
}

/**
 * What the value omits is as in the storage version.
 * @throws DecodeError for another kind, or a version that upstream does not know
 */
function versionOf(encoded: EncodedObject, { form, definition }: StoredKind): StoredVersion {
  const kind = encoded.kind === "" ? form.kind : encoded.kind;
  if (encoded.isProtobuf && encoded.apiVersion === "") throw new DecodeError(notInProtobuf(kind, form));
  const { group, version } = encoded.apiVersion === "" ? form : groupVersionOf(encoded.apiVersion);
  const named = { group, version, kind };
  if (kind !== form.kind) throw new DecodeError(wrongKind(named, form));
  if (group === form.group && version === form.version) return { schema: form.schema, conversion: undefined };
  const served = group === definition.group ? definition.versions.find((one) => one.version === version) : undefined;
  if (served !== undefined) return { schema: served.schema, conversion: served.conversion };
  const name = storedDefinitionOf(group, version, kind) ?? definitionOf(group, version, kind);
  if (name === undefined) throw new DecodeError(notRegistered(named));
  return {
    schema: builtinSchema(name),
    conversion: definition.storedConversions?.[formatGroupVersion(group, version)],
  };
}

/** Upstream decodes protobuf without a version as an internal type, which has no message. */
function notInProtobuf(kind: string, { group }: StorageForm): string {
  return `object *${internalPackage(group)}.${kind} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message`;
}

/** @throws DecodeError */
function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const parsed = parseGroupVersion(apiVersion);
  if (parsed === undefined) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  return parsed;
}

/** Why a value of another kind is not decoded. */
function wrongKind(named: GroupVersionKind, form: StorageForm): string {
  const { group, version, kind } = named;
  const schemeOf = (name: string): string => (ownSchemes.has(name) ? name : "");
  const isKnown =
    schemeOf(group) === schemeOf(form.group) &&
    (storedDefinitionOf(group, version, kind) ?? definitionOf(group, version, kind)) !== undefined;
  if (!isKnown) return notRegistered(named);
  return unknownConversion(`${version}.${kind}`, `${internalPackage(form.group)}.${form.kind}`);
}

/** Custom resources are stored as JSON or CBOR, whether or not the server writes CBOR. */
function decodeCustom(value: Buffer, { form, definition: { converter } }: StoredKind): DecodedValue {
  const isCbor = value.subarray(0, selfDescribed.length).equals(selfDescribed);
  const plain = isCbor ? decodeAnyCbor(value) : undefined;
  const schema = converter?.schemaOf(apiVersionOf(value, plain)) ?? form.schema;
  const custom = schema.custom as CustomForm;
  const object = (plain === undefined ? decodeStored(value, custom) : restoreStored(plain, custom)) as KubeObject;
  object.metadata ??= {};
  if (converter === undefined) object.apiVersion = formatGroupVersion(form.group, form.version);
  return { object, schema };
}

function apiVersionOf(value: Buffer, plain: Record<string, unknown> | undefined): string {
  if (plain === undefined) return peekTypeMeta(value).apiVersion;
  return typeof plain.apiVersion === "string" ? plain.apiVersion : "";
}
