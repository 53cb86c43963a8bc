/**
 * Converts the objects of a request to the version of a match, and changed objects back. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/conversion.go.
 */
import { internalError } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, Resolved } from "../../catalog/contract.ts";
import { cloneJson } from "../../lib/json/values.ts";
import { DecodeError, decodeJson } from "../../lib/schema/decode.ts";
import { encodeObject } from "../../lib/schema/encode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { toStorageVersion, withMetadata } from "../../registry/decode-body.ts";
import { atVersion } from "../../registry/patch.ts";
import type { AdmissionAttributes } from "../contract.ts";
import type { Match } from "./contract.ts";

/** The objects of a request at the version of a match. */
export interface VersionedObjects {
  /** Returns the schema of the kind of a match. */
  schemaOf(attributes: AdmissionAttributes, match: Match): Struct;
  /**
   * Encodes an object of the request as Go encodes the kind of the match.
   *
   * @param object `attributes.object` or `attributes.oldObject`, which is not changed
   * @returns JSON; a promise only if a conversion webhook converts the object
   * @throws ApiError 500 if the webhook fails
   */
  encode(object: KubeObject, attributes: AdmissionAttributes, match: Match): Buffer | Promise<Buffer>;
  /**
   * Replaces `attributes.object`: decodes it, sets defaults, and converts it to the version that
   * the registry uses. Unknown fields are dropped.
   *
   * @param json of the kind of the match
   * @returns a promise only if a conversion webhook converts the object
   * @throws ApiError 500 if the JSON is not an object of the kind, or the webhook fails
   */
  replace(attributes: AdmissionAttributes, match: Match, json: Buffer): void | Promise<void>;
}

/** @param catalog finds the version of a match */
export function versionedObjects(catalog: Catalog): VersionedObjects {
  const resolve = ({ target }: AdmissionAttributes, { resource: { group, version, resource } }: Match): Resolved =>
    isVersion(target, version) && target.resource.definition.group === group
      ? target
      : (catalog.find(group, version, resource) as Resolved);
  return {
    schemaOf: (attributes, match) => subresourceSchema(attributes, match) ?? resolve(attributes, match).version.schema,
    encode(object, attributes, match) {
      const own = subresourceSchema(attributes, match);
      if (own !== undefined) return encode(object, own);
      const resolved = resolve(attributes, match);
      const { target } = attributes;
      if (target.converted === undefined || resolved === target) return encodeAt(object, resolved);
      return convert(encodeAt(object, target), target, resolved).then((converted) => encodeAt(converted, resolved));
    },
    replace(attributes, match, json) {
      const own = subresourceSchema(attributes, match);
      const object = attributes.object as KubeObject;
      if (own !== undefined) return assign(object, decode(json, own));
      const resolved = resolve(attributes, match);
      const { target } = attributes;
      const decoded = decode(json, resolved.version.schema);
      if (target.converted === undefined || resolved === target)
        return assign(object, toStorageVersion(decoded, resolved));
      return convert(encodeAt(decoded, resolved), resolved, target).then((converted) =>
        assign(object, toStorageVersion(converted, target)),
      );
    },
  };
}

/** The schema of a subresource with its own kind, which has no other versions. */
function subresourceSchema({ target, subresource }: AdmissionAttributes, { kind }: Match): Struct | undefined {
  if (subresource === "" || kind.kind === target.resource.definition.kind) return undefined;
  return target.version.subresources.find(({ name }) => name === subresource)?.schema;
}

function isVersion({ version }: Resolved, name: string): boolean {
  return version.version === name;
}

function encodeAt(object: KubeObject, resolved: Resolved): Buffer {
  return encode(atVersion(cloneJson(object), resolved), resolved.version.schema);
}

/** The encoder leaves out the resourceVersion. */
function encode(object: KubeObject, schema: Struct): Buffer {
  const { json, versionOffset } = encodeObject(object, schema);
  const { resourceVersion } = object.metadata;
  if (resourceVersion === undefined || versionOffset === 0) return json;
  const member = Buffer.from(`"resourceVersion":${JSON.stringify(resourceVersion)},`);
  return Buffer.concat([json.subarray(0, versionOffset), member, json.subarray(versionOffset)]);
}

/** @throws ApiError 500 */
function decode(json: Buffer, schema: Struct): KubeObject {
  try {
    return withMetadata(decodeJson(json, schema).object);
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

async function convert(json: Buffer, { resource }: Resolved, to: Resolved): Promise<KubeObject> {
  const { group, converter } = resource.definition;
  const apiVersion = formatGroupVersion(group, to.version.version);
  const [converted] = (await converter?.convert([json], apiVersion, "object")) ?? [];
  return converted as KubeObject;
}

/** Others hold a reference to the object of the attributes. */
function assign(target: KubeObject, source: KubeObject): void {
  for (const key of Object.keys(target)) if (!Object.hasOwn(source, key)) delete target[key];
  Object.assign(target, source);
}
