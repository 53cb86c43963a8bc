/** The objects that the policies of one request read. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import type { AdmissionAttributes } from "../contract.ts";
import type { RequestObjects } from "../expressions/request-bindings.ts";
import type { Match } from "../matching/contract.ts";
import type { Namespaces } from "../matching/namespaces.ts";
import type { VersionedObjects } from "../matching/versioned.ts";
import type { PolicyErrorType } from "./contract.ts";

/** For evaluations without objects. */
export const noObjects: RequestObjects = { object: null, oldObject: null };

/** The objects of a request by the kind of a match, each converted once. */
export class ObjectsByKind {
  readonly #versioned: VersionedObjects;
  readonly #attributes: AdmissionAttributes;
  readonly #objects = new Map<string, RequestObjects>();

  constructor(versioned: VersionedObjects, attributes: AdmissionAttributes) {
    this.#versioned = versioned;
    this.#attributes = attributes;
  }

  /**
   * @returns a promise only for resources with a conversion webhook
   * @throws ApiError 500 if the webhook fails
   */
  at(match: Match): RequestObjects | Promise<RequestObjects> {
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    const known = this.#objects.get(key);
    if (known !== undefined) return known;
    const keep = (objects: RequestObjects): RequestObjects => {
      this.#objects.set(key, objects);
      return objects;
    };
    return this.#attributes.target.converted === undefined ? keep(this.#onDemand(match)) : this.#now(match).then(keep);
  }

  /** Without a conversion webhook, objects are encoded when an expression reads them. */
  #onDemand(match: Match): RequestObjects {
    const encode = (object: KubeObject | undefined): JsonValue => this.#encode(object, match) as JsonValue;
    const { object, oldObject } = this.#attributes;
    let [value, oldValue]: (JsonValue | undefined)[] = [];
    return {
      get object() {
        value ??= encode(object);
        return value;
      },
      get oldObject() {
        oldValue ??= encode(oldObject);
        return oldValue;
      },
    };
  }

  async #now(match: Match): Promise<RequestObjects> {
    const { object, oldObject } = this.#attributes;
    return { object: await this.#encode(object, match), oldObject: await this.#encode(oldObject, match) };
  }

  #encode(object: KubeObject | undefined, match: Match): JsonValue | Promise<JsonValue> {
    if (object === undefined) return null;
    const json = this.#versioned.encode(object, this.#attributes, match);
    return json instanceof Promise ? json.then(parse) : parse(json);
  }
}

function parse(json: Buffer): JsonValue {
  return parseEncoded(json) as JsonValue;
}

/**
 * Finds the namespace of a request; undefined for cluster-scoped objects and for namespaces.
 *
 * @returns a function that decodes the namespace
 * @throws ApiError 404
 */
export function findNamespace(
  namespaces: Namespaces,
  { target, namespace }: AdmissionAttributes,
): (() => KubeObject) | undefined | Promise<() => KubeObject> {
  const { group, kind } = target.resource.definition;
  return namespace === "" || (group === "" && kind === "Namespace") ? undefined : namespaces.find(namespace);
}

/** The label of an error in metrics, by its text. */
export function errorType(evaluation: "admit" | "error" | "deny", message: string): PolicyErrorType {
  if (evaluation === "admit") return "no_error";
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error";
}
