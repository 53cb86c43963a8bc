/**
 * The object of a request while mutating policies change it, at the versions of their matches.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/conversion.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { asGoNumbers } from "../../lib/json/number-literal.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import type { VersionedObjects } from "../matching/versioned.ts";

/** The objects of a request at one version. */
export interface MutatedObject {
  readonly match: Match;
  /** Null if the request has none. */
  object: JsonValue;
  readonly oldObject: JsonValue;
  /** The object after the last mutation at the version that the registry uses; undefined before. */
  mutated: KubeObject | undefined;
}

/** The objects by the kind of a match. */
export class MutatedObjects {
  readonly #versioned: VersionedObjects;
  readonly #attributes: AdmissionAttributes;
  readonly #objects = new Map<string, MutatedObject>();

  constructor(versioned: VersionedObjects, attributes: AdmissionAttributes) {
    this.#versioned = versioned;
    this.#attributes = attributes;
  }

  /** @throws ApiError 500 if a conversion webhook fails */
  async at(match: Match): Promise<MutatedObject> {
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    const known = this.#objects.get(key);
    if (known !== undefined) return known;
    const { object, oldObject } = this.#attributes;
    const mutated = {
      match,
      object: await this.#encode(object, match),
      oldObject: await this.#encode(oldObject, match),
      mutated: undefined,
    };
    this.#objects.set(key, mutated);
    return mutated;
  }

  /** Returns the schema of the kind of a match. */
  schemaOf(match: Match): Struct {
    return this.#versioned.schemaOf(this.#attributes, match);
  }

  /**
   * Replaces the object: decodes it and sets defaults. The request keeps its object.
   *
   * @throws ApiError 500 if it is not an object of the kind, or a conversion webhook fails
   */
  async replace(mutated: MutatedObject, patched: KubeObject): Promise<void> {
    const copy = { ...this.#attributes, object: { metadata: {} } };
    await this.#versioned.replaceBy(copy, mutated.match, patched);
    mutated.object = await this.#encode(copy.object, mutated.match);
    mutated.mutated = copy.object;
  }

  /**
   * Gives the request the changed object, if there is one. Upstream converts it again, which only a
   * conversion webhook can observe.
   *
   * @throws ApiError 500 if a conversion webhook fails
   */
  async store({ object, match, mutated }: MutatedObject): Promise<void> {
    if (mutated === undefined) return;
    if (this.#attributes.target.converted === undefined) return this.#versioned.adopt(this.#attributes, mutated);
    await this.#versioned.replace(this.#attributes, match, Buffer.from(encodeAny(object)));
  }

  async #encode(object: KubeObject | undefined, match: Match): Promise<JsonValue> {
    if (object === undefined) return null;
    return parseEncoded(await this.#versioned.encode(object, this.#attributes, match), asGoNumbers) as JsonValue;
  }
}
