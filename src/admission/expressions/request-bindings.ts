/**
 * The values of the variables of policies and match conditions for one request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/activation.go and condition.go.
 */
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import type { PolicyBindings } from "../../cel-environment/policy-evaluator.ts";
import { namespaceValue, requestValue } from "../../cel-environment/request-value.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import type { AdmissionAttributes } from "../contract.ts";
import type { AuthorizationChecks } from "./authorization-checks.ts";

/** The resource and kind under which a policy or webhook matches a request. */
export interface MatchedAs {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: GroupVersionKind;
}

interface BindingsOptions {
  readonly attributes: AdmissionAttributes;
  readonly matched: MatchedAs;
  /** At the version of the match; undefined for a deletion. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** Undefined if the expressions have no variable `params`. */
  readonly params?: KubeObject | null | undefined;
  /** The namespace of the request; `namespaceObject` is null without it. */
  readonly namespace?: KubeObject | undefined;
  /** Undefined if the expressions have no variable `authorizer`. */
  readonly checks?: AuthorizationChecks | undefined;
}

/** Returns the values, of which `request` and `namespaceObject` are created on first use. */
export function requestBindings(options: BindingsOptions): PolicyBindings {
  const { attributes, matched, object = null, oldObject = null, params, namespace, checks } = options;
  let request: JsonValue | undefined;
  return {
    object: object as JsonValue,
    oldObject: oldObject as JsonValue,
    get request() {
      request ??= requestOf(attributes, matched);
      return request;
    },
    get namespaceObject() {
      return namespace === undefined ? null : namespaceValue(namespace);
    },
    ...(params !== undefined && { params: params as JsonValue }),
    ...(checks !== undefined && { authorizer: checks.values }),
  };
}

function requestOf(attributes: AdmissionAttributes, matched: MatchedAs): JsonValue {
  const { operation, target, subresource, namespace, name, user, dryRun, options } = attributes;
  const { group, resource } = target.resource.definition;
  const { version } = target.version;
  return requestValue({
    operation,
    kind: matched.kind,
    resource: matched,
    requestKind: requestKind(attributes),
    requestResource: { group, version, resource },
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options: options() as JsonValue,
  });
}

/** The kind of the body of a request: that of the resource, or of its subresource. */
export function requestKind({ target, subresource }: AdmissionAttributes): GroupVersionKind {
  const { group, kind } = target.resource.definition;
  const { version, subresources } = target.version;
  const own = subresource === "" ? undefined : subresources.find(({ name }) => name === subresource);
  return { group, version, ...own?.kindGroupVersion, kind: own?.kind ?? kind };
}
