/**
 * Authorization checks. The creator of a `CelAuthorizer` makes the decisions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/authz.go
 */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, type Range, timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, opaqueType, stringType } from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { type CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { CelOpaque, type Result } from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";
import { declare, member } from "../declare.ts";
import { nominal } from "./costs.ts";

/** The type of `authorizer`. */
export const authorizerType = opaqueType("kubernetes.authorization.Authorizer");
/** The type of `authorizer.path(…)`. */
export const pathCheckType = opaqueType("kubernetes.authorization.PathCheck");
/** The type of `authorizer.group(…)`. */
export const groupCheckType = opaqueType("kubernetes.authorization.GroupCheck");
/** The type of `authorizer.group(…).resource(…)`. */
export const resourceCheckType = opaqueType("kubernetes.authorization.ResourceCheck");
/** The type of `check(verb)`. */
export const decisionType = opaqueType("kubernetes.authorization.Decision");

/** An authorization check. Parts that the expression does not set are empty. */
export interface AuthorizationCheck {
  /** Such as `get`. */
  readonly verb: string;
  /** The user; the default is the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  /** For a non-resource request. */
  readonly path?: string;
  /** For a resource request. */
  readonly resource?: ResourceAttributes;
}

/** The resource of an authorization check. */
export interface ResourceAttributes {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Unparsed; an invalid selector restricts nothing. */
  readonly fieldSelector: string;
  /** As `fieldSelector`. */
  readonly labelSelector: string;
}

/** The result of an authorization check. */
export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** For people; can be empty. */
  readonly reason: string;
  /** Set if the check failed. */
  readonly error?: string;
}

/** Decides synchronously. With the cost limits of Kubernetes, an expression can make few checks. */
export type Decide = (question: AuthorizationCheck) => AuthorizationDecision;

/** What an authorization check asks about, apart from the verb. */
export type CheckedAttributes = Omit<AuthorizationCheck, "verb">;

/** An authorizer, or an authorization check under construction. */
export class CelAuthorizer extends CelOpaque {
  readonly type: CelType;
  readonly decide: Decide;
  /** What the check asks about so far. */
  readonly attributes: CheckedAttributes;
  constructor(decide: Decide, type: CelType = authorizerType, attributes: CheckedAttributes = {}) {
    super();
    this.decide = decide;
    this.type = type;
    this.attributes = attributes;
  }
  /** Returns a check with additional attributes. */
  with(type: CelType, more: CheckedAttributes): CelAuthorizer {
    return new CelAuthorizer(this.decide, type, { ...this.attributes, ...more });
  }
  /** As in Kubernetes, no value can be compared with it. */
  equals(): CelFailure {
    return noSuchOverload();
  }
  toString(): string {
    return this.type.name;
  }
}

class CelDecision extends CelOpaque {
  readonly decision: AuthorizationDecision;
  constructor(decision: AuthorizationDecision) {
    super();
    this.decision = decision;
  }
  get type(): CelType {
    return decisionType;
  }
  /** As in Kubernetes, no value can be compared with it. */
  equals(): CelFailure {
    return noSuchOverload();
  }
  toString(): string {
    return decisionType.name;
  }
}

/** The attributes of a check of a resource before any is set. */
export const noResource: ResourceAttributes = {
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

function narrowed(check: CelAuthorizer, type: CelType, more: Partial<ResourceAttributes>): CelAuthorizer {
  return check.with(type, { resource: { ...noResource, ...check.attributes.resource, ...more } });
}

function serviceAccount(authorizer: CelAuthorizer, namespace: string, name: string): Result {
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))
    return fail("Invalid service account name");
  if (namespace.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace))
    return fail("Invalid service account namespace");
  return new CelAuthorizer(authorizer.decide, authorizerType, { serviceAccount: { namespace, name } });
}

function check(authorizer: CelAuthorizer, verb: string): CelDecision {
  return new CelDecision(authorizer.decide({ ...authorizer.attributes, verb }));
}

function resourceOf(group: CelAuthorizer, resource: string): Result {
  return resource.trim() === "" ? fail("resource must not be empty") : narrowed(group, resourceCheckType, { resource });
}

function pathOf(authorizer: CelAuthorizer, path: string): Result {
  return path.trim() === "" ? fail("path must not be empty") : authorizer.with(pathCheckType, { path });
}

function narrowing(name: keyof ResourceAttributes, id: string): FunctionDeclaration {
  const evaluate = (from: CelAuthorizer, value: string): Result => narrowed(from, resourceCheckType, { [name]: value });
  return declare(name, member(id, [resourceCheckType, stringType], resourceCheckType, { evaluate }));
}

const steps: readonly FunctionDeclaration[] = [
  declare("path", member("authorizer_path", [authorizerType, stringType], pathCheckType, { evaluate: pathOf })),
  declare(
    "group",
    member("authorizer_group", [authorizerType, stringType], groupCheckType, {
      evaluate: (from: CelAuthorizer, group: string) => narrowed(from, groupCheckType, { group }),
    }),
  ),
  declare(
    "serviceAccount",
    member("authorizer_serviceaccount", [authorizerType, stringType, stringType], authorizerType, {
      evaluate: serviceAccount,
    }),
  ),
  declare(
    "resource",
    member("groupcheck_resource", [groupCheckType, stringType], resourceCheckType, { evaluate: resourceOf }),
  ),
  narrowing("subresource", "resourcecheck_subresource"),
  narrowing("namespace", "resourcecheck_namespace"),
  narrowing("name", "resourcecheck_name"),
  declare(
    "errored",
    member("decision_errored", [decisionType], boolType, {
      evaluate: ({ decision }: CelDecision) => decision.error !== undefined,
    }),
  ),
  declare(
    "error",
    member("decision_error", [decisionType], stringType, {
      evaluate: ({ decision }: CelDecision) => decision.error ?? "",
    }),
  ),
  declare(
    "allowed",
    member("decision_allowed", [decisionType], boolType, { evaluate: ({ decision }: CelDecision) => decision.allowed }),
  ),
  declare(
    "reason",
    member("decision_reason", [decisionType], stringType, { evaluate: ({ decision }: CelDecision) => decision.reason }),
  ),
];

const checkFunction: FunctionDeclaration = {
  ...declare(
    "check",
    member("pathcheck_check", [pathCheckType, stringType], decisionType, { evaluate: check }),
    member("resourcecheck_check", [resourceCheckType, stringType], decisionType, { evaluate: check }),
  ),
  cost: () => 350_000,
  estimate: () => ({ cost: fixed(350_000) }),
};

/**
 * The text is read and a list created; every second character can start a requirement: a struct and
 * a list.
 */
function selectorCost(size: Range): Range {
  return plus(plus(fixed(10), timesFactor(size, traversalFactor)), timesFactor(timesFactor(size, 0.5), 50));
}

const selecting: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: (args) => Number(selectorCost(fixed(sizeOf(args[1]))).max),
  estimate: ({ args }) => ({ cost: selectorCost(sizeOrUnknown(args[0])) }),
};

/** Authorization checks, such as `authorizer.path("/healthz").check("get").allowed()`. */
export const authorization = library({ functions: [...steps.map((step) => ({ ...step, ...nominal })), checkFunction] });

/** `fieldSelector` and `labelSelector` of resource checks. Requires `authorization`. */
export const authorizationSelectors = library({
  functions: [
    { ...narrowing("fieldSelector", "authorizer_fieldselector"), ...selecting },
    { ...narrowing("labelSelector", "authorizer_labelselector"), ...selecting },
  ],
});
