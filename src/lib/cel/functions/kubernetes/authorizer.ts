/** Asking whether somebody may do something. The decision is made by whoever gives the authorizer. Source: k8s.io/apiserver pkg/cel/library/authz.go */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, type Range, timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, opaqueType, stringType } from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { fail } from "../../values/failure.ts";
import { CelOpaque, type Result } from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";
import { declare, member } from "../declare.ts";
import { nominal } from "./costs.ts";

export const authorizerType = opaqueType("kubernetes.authorization.Authorizer");
export const pathCheckType = opaqueType("kubernetes.authorization.PathCheck");
export const groupCheckType = opaqueType("kubernetes.authorization.GroupCheck");
export const resourceCheckType = opaqueType("kubernetes.authorization.ResourceCheck");
export const decisionType = opaqueType("kubernetes.authorization.Decision");

/** What is asked. Texts that were not given are empty. */
export interface AuthorizationQuestion {
  readonly verb: string;
  /** Instead of whoever the authorizer is for. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  /** Of a request for no resource. */
  readonly path?: string;
  readonly resource?: ResourceQuestion;
}

export interface ResourceQuestion {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** As written: one that cannot be parsed selects nothing away. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why it could not be decided. */
  readonly error?: string;
}

/** Decides at once. An expression costs so much for each question that it can ask two. */
export type Decide = (question: AuthorizationQuestion) => AuthorizationAnswer;

type Asked = Omit<AuthorizationQuestion, "verb">;

/** An authorizer, or a question in the making. */
export class CelAuthorizer extends CelOpaque {
  readonly type: CelType;
  readonly decide: Decide;
  readonly asked: Asked;
  constructor(decide: Decide, type: CelType = authorizerType, asked: Asked = {}) {
    super();
    this.decide = decide;
    this.type = type;
    this.asked = asked;
  }
  with(type: CelType, more: Asked): CelAuthorizer {
    return new CelAuthorizer(this.decide, type, { ...this.asked, ...more });
  }
  equals(other: CelOpaque): boolean {
    return other === this;
  }
  toString(): string {
    return this.type.name;
  }
}

export class CelDecision extends CelOpaque {
  readonly answer: AuthorizationAnswer;
  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }
  get type(): CelType {
    return decisionType;
  }
  equals(other: CelOpaque): boolean {
    return other === this;
  }
  toString(): string {
    return decisionType.name;
  }
}

/** What `authorizer.requestResource` is. */
export function resourceCheck(decide: Decide, resource: ResourceQuestion): CelAuthorizer {
  return new CelAuthorizer(decide, resourceCheckType, { resource });
}

const nothing: ResourceQuestion = {
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

function narrowed(check: CelAuthorizer, type: CelType, more: Partial<ResourceQuestion>): CelAuthorizer {
  return check.with(type, { resource: { ...nothing, ...check.asked.resource, ...more } });
}

function serviceAccount(authorizer: CelAuthorizer, namespace: string, name: string): Result {
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))
    return fail("Invalid service account name");
  if (namespace.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace))
    return fail("Invalid service account namespace");
  return new CelAuthorizer(authorizer.decide, authorizerType, { serviceAccount: { namespace, name } });
}

function check(question: CelAuthorizer, verb: string): CelDecision {
  return new CelDecision(question.decide({ ...question.asked, verb }));
}

function resourceOf(group: CelAuthorizer, resource: string): Result {
  return resource.trim() === "" ? fail("resource must not be empty") : narrowed(group, resourceCheckType, { resource });
}

function pathOf(authorizer: CelAuthorizer, path: string): Result {
  return path.trim() === "" ? fail("path must not be empty") : authorizer.with(pathCheckType, { path });
}

function narrowing(name: keyof ResourceQuestion, id: string): FunctionDeclaration {
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
      evaluate: ({ answer }: CelDecision) => answer.error !== undefined,
    }),
  ),
  declare(
    "error",
    member("decision_error", [decisionType], stringType, { evaluate: ({ answer }: CelDecision) => answer.error ?? "" }),
  ),
  declare(
    "allowed",
    member("decision_allowed", [decisionType], boolType, { evaluate: ({ answer }: CelDecision) => answer.allowed }),
  ),
  declare(
    "reason",
    member("decision_reason", [decisionType], stringType, { evaluate: ({ answer }: CelDecision) => answer.reason }),
  ),
];

const question: FunctionDeclaration = {
  ...declare(
    "check",
    member("pathcheck_check", [pathCheckType, stringType], decisionType, { evaluate: check }),
    member("resourcecheck_check", [resourceCheckType, stringType], decisionType, { evaluate: check }),
  ),
  cost: () => 350_000,
  estimate: () => ({ cost: fixed(350_000) }),
};

/** A list is made, the text is read, and every second character may begin a requirement: a struct and a list. */
function selectorCost(size: Range): Range {
  return plus(plus(fixed(10), timesFactor(size, traversalFactor)), timesFactor(timesFactor(size, 0.5), 50));
}

const selecting: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: (args) => Number(selectorCost(fixed(sizeOf(args[1]))).max),
  estimate: ({ args }) => ({ cost: selectorCost(sizeOrUnknown(args[0])) }),
};

export const authorization = library({ functions: [...steps.map((step) => ({ ...step, ...nominal })), question] });

/** Needs `authorization`. */
export const authorizationSelectors = library({
  functions: [
    { ...narrowing("fieldSelector", "authorizer_fieldselector"), ...selecting },
    { ...narrowing("labelSelector", "authorizer_labelselector"), ...selecting },
  ],
});
