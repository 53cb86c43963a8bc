/** The objects of one request at the versions that webhooks review, each encoded once. */
import { internalError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ConversionError } from "../../catalog/converter.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import type { VersionedObjects } from "../matching/versioned.ts";
import type { ReviewedObjects } from "./contract.ts";

/** By group, version and kind; a promise while a conversion webhook converts the object. */
type EncodedObjects = Map<string, Buffer | Promise<Buffer>>;

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

  /**
   * @returns a promise only if a conversion webhook converts an object
   * @throws ApiError 500 if the conversion webhook fails
   */
  at(match: Match): ReviewedObjects | Promise<ReviewedObjects> {
    const oldObject = this.#encode(this.#oldObjects, this.#attributes.oldObject, match);
    if (oldObject instanceof Promise) return oldObject.then((converted) => this.#withObject(converted, match));
    return this.#withObject(oldObject, match);
  }

  #withObject(oldObject: Buffer | undefined, match: Match): ReviewedObjects | Promise<ReviewedObjects> {
    const object = this.#encode(this.#objects, this.#attributes.object, match);
    if (object instanceof Promise) return object.then((converted) => ({ oldObject, object: converted }));
    return { oldObject, object };
  }

  /** The object has changed. */
  objectChanged(): void {
    this.#objects.clear();
  }

  #encode(encoded: EncodedObjects, object: KubeObject | undefined, match: Match): Buffer | undefined | Promise<Buffer> {
    if (object === undefined) return undefined;
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    const existing = encoded.get(key);
    if (existing !== undefined) return existing;
    const json = this.#versioned.encode(object, this.#attributes, match);
    const result = json instanceof Promise ? json.catch(rethrowConversion) : json;
    encoded.set(key, result);
    return result;
  }
}

/** Upstream reports the error of a conversion webhook as internal error of an internal error. */
function rethrowConversion(error: unknown): never {
  if (!(error instanceof ConversionError)) throw error;
  throw internalError(internalError(error.message).message);
}
