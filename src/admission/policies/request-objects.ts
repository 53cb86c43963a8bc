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
   * @throws ApiError 500 if a conversion webhook fails
   */
  async at(match: Match): Promise<RequestObjects> {
    for (const { kind, objects } of this.#found) if (isSameKind(kind, match.kind)) return objects;
    if (this.#attributes.target.converted !== undefined) return this.#convert(match);
    return this.#keep(match, new ObjectsOnDemand(this.#versioned, this.#attributes, match));
  }

  async #convert(match: Match): Promise<RequestObjects> {
    const { object, oldObject } = this.#attributes;
    const value = await this.#convertOne(match, object);
    return this.#keep(match, { object: value, oldObject: await this.#convertOne(match, oldObject) });
  }

  async #convertOne(match: Match, object: KubeObject | undefined): Promise<ObjectValue> {
    return object === undefined ? null : shown(await this.#versioned.convert(object, this.#attributes, match));
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

  #valueOf(object: KubeObject | undefined): ObjectValue {
    return object === undefined ? null : shown(this.#versioned.show(object, this.#attributes, this.#match));
  }
}

const shown = ({ object, schema }: Versioned): ObjectValue => typedObject(object, schema);

/**
 * Finds the namespace of a request; undefined for cluster-scoped objects and for namespaces.
 *
 * @returns a function that decodes the namespace
 * @throws ApiError 404
 */
export async function findNamespace(
  namespaces: Namespaces,
  { target, namespace }: AdmissionAttributes,
): Promise<(() => KubeObject) | undefined> {
  const { group, kind } = target.resource.definition;
  return namespace === "" || (group === "" && kind === "Namespace") ? undefined : namespaces.find(namespace);
}

/** The label of an error in metrics, by its text. */
export function errorType(evaluation: "admit" | "error" | "deny", message: string): PolicyErrorType {
  if (evaluation === "admit") return "no_error";
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error";
}
