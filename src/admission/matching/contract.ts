/** The requests that a webhook or policy selects. Source: k8s.io/api@v0.36.0/admissionregistration/v1/types.go. */
import type { GroupVersionKind, GroupVersionResource } from "../../apimachinery/object.ts";
import type { LabelSelectorObject } from "../../lib/selectors/label-object.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";

/** `RuleWithOperations` or `NamedRuleWithOperations` of admissionregistration.k8s.io, as JSON. */
export interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  /** Such as `pods`, `pods/status`, `pods/*`, `*` and `*\/*`. */
  readonly resources?: readonly string[];
  readonly scope?: string;
  /** Empty for all names. */
  readonly resourceNames?: readonly string[];
}

/** The fields that webhooks, policies and bindings have in common, with defaults set. */
export interface MatchCriteria {
  /** Empty for all requests, if `isOpen`. */
  readonly resourceRules: readonly Rule[];
  /** Whether no rules at all match every request, as in bindings. */
  readonly isOpen?: boolean;
  readonly excludeResourceRules?: readonly Rule[];
  readonly matchPolicy: "Exact" | "Equivalent";
  readonly namespaceSelector: LabelSelectorObject;
  readonly objectSelector: LabelSelectorObject;
}

/** The resource and kind under which rules match a request. */
export interface Match {
  /** Another than that of the request if only an equivalent resource matches. */
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** Compiled criteria. */
export interface Matcher {
  /**
   * Returns whether the request can match, by its resource, version, subresource and operation, and
   * whether it has a namespace.
   */
  mayMatch(attributes: AdmissionAttributes): boolean;
  /**
   * @returns undefined if the request does not match
   * @throws ApiError 404 when the namespace does not exist, 500 when a selector is invalid; only if
   *   the rest matches
   */
  match(attributes: AdmissionAttributes): Promise<Match | undefined>;
}
