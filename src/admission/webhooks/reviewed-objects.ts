/** The objects of one request at the versions that webhooks review, each encoded once. */
import { internalError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ConversionError } from "../../catalog/converter.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import type { VersionedObjects } from "../matching/versioned.ts";
import type { ReviewedObjects } from "./contract.ts";

/** By group, version and kind. */
type EncodedObjects = Map<string, Promise<Buffer>>;

/** Encodes objects when they are first reviewed. */
export class RequestObjects {
  readonly #attributes: AdmissionAttributes;
  readonly #versioned: VersionedObjects;
  readonly #objects: EncodedObjects = new Map();
  readonly #oldObjects: EncodedObjects = new Map();

  constructor(attributes: AdmissionAttributes, versioned: VersionedObjects) {
    this.#attributes = attributes;
    this.#versioned = versioned;
  }

  /** @throws ApiError 500 if the conversion webhook fails */
  async at(match: Match): Promise<ReviewedObjects> {
    const oldObject = await this.#encode(this.#oldObjects, this.#attributes.oldObject, match);
    const object = await this.#encode(this.#objects, this.#attributes.object, match);
    return { object, oldObject };
  }

  /** The object has changed. */
  objectChanged(): void {
    this.#objects.clear();
  }

  async #encode(encoded: EncodedObjects, object: KubeObject | undefined, match: Match): Promise<Buffer | undefined> {
    if (object === undefined) return undefined;
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    const existing = encoded.get(key);
    if (existing !== undefined) return existing;
    const json = this.#versioned.encode(object, this.#attributes, match).catch(rethrowConversion);
    encoded.set(key, json);
    return json;
  }
}

/** Upstream reports the error of a conversion webhook as internal error of an internal error. */
function rethrowConversion(error: unknown): never {
  if (!(error instanceof ConversionError)) throw error;
  throw internalError(internalError(error.message).message);
}
