/**
 * Converts the objects of a request to the version of a match, and changed objects back. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/conversion.go.
 */
import { formatGroupVersion, type GroupVersionKind, type KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import type { Catalog, Resolved } from "../../catalog/contract.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import { cloneJson, identical } from "../../lib/json/values.ts";
import { encodeValue } from "../../lib/schema/encode.ts";
import { equalBySchema } from "../../lib/schema/equal.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { type AdmissionAttributes, reinvocationOf } from "../../registry/admission-attributes.ts";
import { toStorageVersion } from "../../registry/decode-body.ts";
import { atVersion } from "../../registry/patch.ts";
import type { Match } from "./contract.ts";
import { conformChanged, decodeChanged } from "./decode-changed.ts";

/** An object at a version, in the form that the decoder returns, with the schema of the version. */
export interface Versioned {
  /** May share parts with the object of the request. */
  readonly object: KubeObject;
  readonly schema: Struct;
}

/** The objects of a request at the version of a match. */
export interface VersionedObjects {
  /** Returns the schema of the kind of a match. */
  schemaOf(attributes: AdmissionAttributes, match: Match): Struct;
  /**
   * Shows an object of the request at the version of the match, if no conversion webhook has to
   * convert it.
   *
   * @param object `attributes.object` or `attributes.oldObject`, which is not changed
   */
  show(object: KubeObject, attributes: AdmissionAttributes, match: Match): Versioned;
  /**
   * As `show`, also by a conversion webhook.
   *
   * @throws ApiError 500 if the webhook fails
   */
  convert(object: KubeObject, attributes: AdmissionAttributes, match: Match): Promise<Versioned>;
  /**
   * Encodes an object of the request as Go encodes the kind of the match.
   *
   * @param object `attributes.object` or `attributes.oldObject`, which is not changed
   * @returns JSON
   * @throws ApiError 500 if a conversion webhook fails
   */
  encode(object: KubeObject, attributes: AdmissionAttributes, match: Match): Promise<Buffer>;
  /**
   * Replaces `attributes.object`: decodes it, sets defaults, and converts it to the version that
   * the registry uses. Unknown fields are dropped, except those of custom resources, which are
   * pruned when the object is stored.
   *
   * @param json of the kind of the match
   * @param before the object that was encoded for the same match; without it, any object counts as
   *   changed
   * @returns whether the object changed, before defaults are set
   * @throws ApiError 500 if the JSON is not an object of the kind, or the webhook fails
   */
  replace(attributes: AdmissionAttributes, match: Match, json: Buffer, before?: Buffer): Promise<boolean>;
  /**
   * As `replace`, by an object of the kind of the match instead of JSON.
   *
   * @param object is not changed
   */
  replaceBy(attributes: AdmissionAttributes, match: Match, object: KubeObject): Promise<void>;
  /** Replaces `attributes.object` by an object at the version that the registry uses, with defaults. */
  adopt(attributes: AdmissionAttributes, object: KubeObject): void;
}

/** @param catalog finds the version of a match */
export function versionedObjects(catalog: Catalog): VersionedObjects {
  const resolve = ({ target }: AdmissionAttributes, { resource: { group, version, resource } }: Match): Resolved =>
    isVersion(target, version) && target.resource.definition.group === group
      ? target
      : (catalog.find(group, version, resource) as Resolved);
  const show: VersionedObjects["show"] = (object, attributes, match) => {
    const own = subresourceSchema(attributes, match);
    return own === undefined ? showAt(object, resolve(attributes, match)) : { object, schema: own };
  };
  const convertTo: VersionedObjects["convert"] = async (object, attributes, match) => {
    const { target } = attributes;
    const isOwnKind = subresourceSchema(attributes, match) !== undefined;
    const resolved = isOwnKind ? target : resolve(attributes, match);
    if (target.converted === undefined || resolved === target) return show(object, attributes, match);
    return showAt(await convert(encode(showAt(object, target)), target, resolved), resolved);
  };
  const schemaOf: VersionedObjects["schemaOf"] = (attributes, match) =>
    subresourceSchema(attributes, match) ?? resolve(attributes, match).version.schema;
  const take = async (attributes: AdmissionAttributes, match: Match, decoded: KubeObject): Promise<void> => {
    const { target } = attributes;
    const object = attributes.object as KubeObject;
    const resolved = resolve(attributes, match);
    reinvocationOf(attributes).isReplaced = true;
    if (subresourceSchema(attributes, match) !== undefined) assign(object, decoded);
    else if (target.converted === undefined || resolved === target) assign(object, toStorageVersion(decoded, resolved));
    else {
      const converted = await convert(encode(showAt(decoded, resolved)), resolved, target);
      assign(object, toStorageVersion(converted, target));
    }
  };
  return {
    schemaOf,
    show,
    convert: convertTo,
    encode: async (object, attributes, match) => encode(await convertTo(object, attributes, match)),
    async replace(attributes, match, json, before) {
      const schema = schemaOf(attributes, match);
      const decoded = decodeChanged(json, schema, match.kind);
      const changed = before === undefined || differs(before, json, decoded, { schema, kind: match.kind });
      await take(attributes, match, decoded);
      return changed;
    },
    replaceBy: async (attributes, match, object) =>
      take(attributes, match, conformChanged(object, schemaOf(attributes, match), match.kind)),
    adopt(attributes, object) {
      reinvocationOf(attributes).isReplaced = true;
      assign(attributes.object as KubeObject, object);
    },
  };
}

interface Kind {
  readonly schema: Struct;
  readonly kind: GroupVersionKind;
}

/** As Go compares typed objects, and the JSON of custom resources. */
function differs(before: Buffer, after: Buffer, decoded: KubeObject, { schema, kind }: Kind): boolean {
  if (schema.custom !== undefined) return !identical(parseEncoded(before), parseEncoded(after));
  return !equalBySchema(decodeChanged(before, schema, kind), decoded, schema);
}

/** The schema of a subresource with its own kind, which has no other versions. */
function subresourceSchema({ target, subresource }: AdmissionAttributes, { kind: named }: Match): Struct | undefined {
  const { group, version, kind } = named;
  if (subresource === "" || kind === target.resource.definition.kind) return undefined;
  const { schema } = target.version.subresources.find(({ name }) => name === subresource) ?? {};
  return schema ?? builtinSchema(definitionOf(group, version, kind) as string);
}

function isVersion({ version }: Resolved, name: string): boolean {
  return version.version === name;
}

/** @param object is not changed */
function showAt(object: KubeObject, resolved: Resolved): Versioned {
  const copy = resolved.version.conversion === undefined ? { ...object } : cloneJson(object);
  return { object: atVersion(copy, resolved), schema: resolved.version.schema };
}

function encode({ object, schema }: Versioned): Buffer {
  return Buffer.from(schema.custom === undefined ? encodeValue(object, schema) : encodeSorted(object));
}

async function convert(json: Buffer, { resource }: Resolved, to: Resolved): Promise<KubeObject> {
  const { group, converter } = resource.definition;
  const apiVersion = formatGroupVersion(group, to.version.version);
  const [converted] = ((await converter?.convert([json], apiVersion, "object")) ?? []) as [KubeObject];
  converter?.prune(converted, apiVersion);
  return converted;
}

/** Others hold a reference to the object of the attributes. */
function assign(target: KubeObject, source: KubeObject): void {
  for (const key of Object.keys(target)) if (!Object.hasOwn(source, key)) delete target[key];
  Object.assign(target, source);
}
