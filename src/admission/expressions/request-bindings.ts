/**
 * The values of the variables of policies and match conditions for one request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/activation.go and condition.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { PolicyBindings } from "../../cel-environment/policy-evaluator.ts";
import { namespaceValue, requestValue } from "../../cel-environment/request-value.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import { requestedKind, requestedResource } from "../matching/kinds.ts";
import type { AuthorizationChecks } from "./authorization-checks.ts";

/** The objects of a request at the version of a match. Null where the request has none. */
export interface RequestObjects {
  readonly object: PolicyBindings["object"];
  readonly oldObject: PolicyBindings["object"];
}

/** What the values of the variables are made of. */
export interface BindingsOptions {
  readonly attributes: AdmissionAttributes;
  readonly match: Match;
  /** Read when an expression uses them. */
  readonly objects: RequestObjects;
  readonly params?: KubeObject | null | undefined;
  /** Decodes the namespace of the request; `namespaceObject` is null without it. */
  readonly namespace?: (() => KubeObject) | undefined;
  /** Undefined if the expressions have no variable `authorizer`. */
  readonly checks?: AuthorizationChecks | undefined;
}

/** Returns the values, most of which are created on first use. */
export function requestBindings(options: BindingsOptions): PolicyBindings {
  return new RequestBindings(options);
}

class RequestBindings implements PolicyBindings {
  readonly #options: BindingsOptions;

  constructor(options: BindingsOptions) {
    this.#options = options;
  }

  get object(): PolicyBindings["object"] {
    return this.#options.objects.object;
  }

  get oldObject(): PolicyBindings["object"] {
    return this.#options.objects.oldObject;
  }

  get request(): JsonValue {
    return requestOf(this.#options.attributes, this.#options.match);
  }

  get namespaceObject(): JsonValue {
    const { namespace } = this.#options;
    return namespace === undefined ? null : namespaceValue(namespace());
  }

  get params(): JsonValue {
    return (this.#options.params ?? null) as JsonValue;
  }

  get authorizer(): PolicyBindings["authorizer"] {
    return this.#options.checks?.values;
  }
}

function requestOf(attributes: AdmissionAttributes, { resource, kind }: Match): JsonValue {
  const { operation, subresource, namespace, name, user, dryRun, options } = attributes;
  return requestValue({
    operation,
    kind,
    resource,
    requestKind: requestedKind(attributes),
    requestResource: requestedResource(attributes),
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options: options() as JsonValue,
  });
}
