/** The objects that the policies of one request read. */
import type { KubeObject } from "../../apimachinery/object.ts";
import { typedObject } from "../../cel-environment/typed-value.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { RequestObjects } from "../expressions/request-bindings.ts";
import type { Match } from "../matching/contract.ts";
import type { Namespaces } from "../matching/namespaces.ts";
import type { Versioned, VersionedObjects } from "../matching/versioned.ts";
import type { PolicyErrorType } from "./contract.ts";

/** For evaluations without objects. */
export const noObjects: RequestObjects = { object: null, oldObject: null };

/** The objects of a request by the kind of a match, each converted once. */
export class ObjectsByKind {
  readonly #versioned: VersionedObjects;
  readonly #attributes: AdmissionAttributes;
  /** Most requests have one kind, or two equivalent ones. */
  readonly #found: { readonly kind: Match["kind"]; readonly objects: RequestObjects }[] = [];

  constructor(versioned: VersionedObjects, attributes: AdmissionAttributes) {
    this.#versioned = versioned;
    this.#attributes = attributes;
  }

  /**
   * @returns a promise only for resources with a conversion webhook
   * @throws ApiError 500 if the webhook fails
   */
  at(match: Match): RequestObjects | Promise<RequestObjects> {
    for (const { kind, objects } of this.#found) if (isSameKind(kind, match.kind)) return objects;
    if (this.#attributes.target.converted !== undefined) return this.#convert(match);
    return this.#keep(match, new ObjectsOnDemand(this.#versioned, this.#attributes, match));
  }

  async #convert(match: Match): Promise<RequestObjects> {
    const { object, oldObject } = this.#attributes;
    const value = await objectValueOf(this.#versioned, this.#attributes, match, object);
    const oldValue = await objectValueOf(this.#versioned, this.#attributes, match, oldObject);
    return this.#keep(match, { object: value, oldObject: oldValue });
  }

  #keep({ kind }: Match, objects: RequestObjects): RequestObjects {
    this.#found.push({ kind, objects });
    return objects;
  }
}

function isSameKind(one: Match["kind"], other: Match["kind"]): boolean {
  return one.kind === other.kind && one.version === other.version && one.group === other.group;
}

type ObjectValue = RequestObjects["object"];

/** Without a conversion webhook, objects are converted when an expression reads them. */
class ObjectsOnDemand implements RequestObjects {
  readonly #versioned: VersionedObjects;
  readonly #attributes: AdmissionAttributes;
  readonly #match: Match;
  #object: ObjectValue | undefined;
  #oldObject: ObjectValue | undefined;

  constructor(versioned: VersionedObjects, attributes: AdmissionAttributes, match: Match) {
    this.#versioned = versioned;
    this.#attributes = attributes;
    this.#match = match;
  }

  get object(): ObjectValue {
    this.#object ??= this.#valueOf(this.#attributes.object);
    return this.#object;
  }

  get oldObject(): ObjectValue {
    this.#oldObject ??= this.#valueOf(this.#attributes.oldObject);
    return this.#oldObject;
  }

  /** Only a conversion webhook makes it a promise. */
  #valueOf(object: KubeObject | undefined): ObjectValue {
    return objectValueOf(this.#versioned, this.#attributes, this.#match, object) as ObjectValue;
  }
}

function objectValueOf(
  versioned: VersionedObjects,
  attributes: AdmissionAttributes,
  match: Match,
  object: KubeObject | undefined,
): ObjectValue | Promise<ObjectValue> {
  if (object === undefined) return null;
  const found = versioned.convert(object, attributes, match);
  return found instanceof Promise ? found.then(shown) : shown(found);
}

const shown = ({ object, schema }: Versioned): ObjectValue => typedObject(object, schema);

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
