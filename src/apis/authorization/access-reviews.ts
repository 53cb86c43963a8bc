/**
 * Access reviews: whether a user is allowed an action, and which actions a user is allowed.
 * Source: Kubernetes docs, Authorization, "Checking API access"; `k8s.io/kubernetes@v1.36.0/pkg/registry/authorization`.
 */
import { badRequest, invalid } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer, UserRules } from "../../authorization/contract.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { Review } from "../../registry/contract.ts";
import type { Part } from "../fields.ts";
import { ignoredSelectors, selectorText, validateSelector } from "./review-selectors.ts";

const group = "authorization.k8s.io";
const emptyButNamespace = "must be empty except for namespace";

/** SelfSubjectAccessReview: whether the caller is allowed an action. */
export function selfSubjectAccessReview(authorize: Authorizer): Review {
  return {
    check(sent) {
      const errors = new FieldErrors();
      validateAction(sent.spec ?? {}, errors);
      validateEmpty(sent, "must be empty", errors);
      throwInvalid(errors);
    },
    answer: (sent, user) => decide(authorize, sent, user),
  };
}

/** SubjectAccessReview: whether a user is allowed an action. */
export function subjectAccessReview(authorize: Authorizer): Review {
  return {
    check(sent) {
      const errors = new FieldErrors();
      validateSubject(sent.spec ?? {}, errors);
      validateEmpty(sent, "must be empty", errors);
      throwInvalid(errors);
    },
    answer: (sent) => decide(authorize, sent, subjectOf(sent.spec)),
  };
}

/** LocalSubjectAccessReview, for one namespace. Callers need rights in that namespace only. */
export function localSubjectAccessReview(authorize: Authorizer): Review {
  return {
    check(sent, namespace) {
      const errors = new FieldErrors();
      const { resourceAttributes, nonResourceAttributes } = sent.spec ?? {};
      const own = sent.metadata.namespace ?? "";
      validateSubject(sent.spec ?? {}, errors);
      validateEmpty(sent, emptyButNamespace, errors);
      const asked = resourceAttributes?.namespace ?? "";
      if (resourceAttributes !== undefined && asked !== own)
        errors.invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace");
      if (nonResourceAttributes !== undefined) {
        errors.invalid(
          "spec.nonResourceAttributes",
          goFields(nonResourceAttributes),
          "disallowed on this kind of request",
        );
      }
      throwInvalid(errors);
      if (namespace === "") throw badRequest("namespace is required on this type: ");
    },
    answer: (sent) => decide(authorize, sent, subjectOf(sent.spec)),
  };
}

/** SelfSubjectRulesReview: the actions that the caller is allowed in a namespace. */
export function selfSubjectRulesReview(rulesOf: (user: UserInfo, namespace: string) => UserRules): Review {
  return {
    check(sent) {
      if ((sent.spec?.namespace ?? "") === "") throw badRequest("no namespace on request");
    },
    answer(sent, user) {
      const { rules, incomplete, problem } = rulesOf(user, sent.spec.namespace);
      const resourceRules = rules.filter(({ resources = [] }) => resources.length > 0);
      const nonResourceRules = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
      return {
        metadata: {},
        spec: {},
        status: {
          resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
            verbs,
            apiGroups,
            resources,
            resourceNames,
          })),
          nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
          incomplete,
          ...(problem !== "" && { evaluationError: problem }),
        },
      };
    },
  };
}

function validateAction(spec: Part, errors: FieldErrors): void {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.invalid(
      "spec.nonResourceAttributes",
      goFields(nonResourceAttributes),
      "cannot be specified in combination with resourceAttributes",
    );
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.invalid(
      "spec.resourceAttributes",
      null,
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
  }
}

function validateSubject(spec: Part, errors: FieldErrors): void {
  validateAction(spec, errors);
  const { user = "", groups = [] } = spec;
  if (user === "" && groups.length === 0)
    errors.invalid("spec.user", user, "at least one of user or group must be specified");
}

/** Validates the selectors, then the metadata, which is upstream's order. */
function validateEmpty({ spec, metadata }: KubeObject, detail: string, errors: FieldErrors): void {
  const path = "spec.resourceAttributes";
  validateSelector(spec?.resourceAttributes?.fieldSelector, `${path}.fieldSelector`, "field", errors);
  validateSelector(spec?.resourceAttributes?.labelSelector, `${path}.labelSelector`, "label", errors);
  const { managedFields, namespace, ...rest } = metadata;
  const allowed = detail === emptyButNamespace ? "" : (namespace ?? "");
  if ([...Object.values(rest), allowed].some((value) => value !== undefined && value !== ""))
    errors.invalid("metadata", inOrder(metadata), detail);
}

/** Orders the fields as they are encoded. */
function inOrder(metadata: ObjectMeta): object {
  const { fields } = builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const members = fields.map(({ name }) => [name, metadata[name as keyof ObjectMeta]] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== ""));
}

/** Errors name no kind, because upstream's internal types have none. */
function throwInvalid(errors: FieldErrors): void {
  if (!errors.empty) throw invalid(group, "", "", errors.causes);
}

function goFields({ path = "", verb = "" }: Part): Record<string, string> {
  return { Path: path, Verb: verb };
}

function subjectOf({ user = "", uid = "", groups = [], extra = {} }: Part): UserInfo {
  return { name: user, uid, groups, extra: new Map(Object.entries(extra)) };
}

async function decide(authorize: Authorizer, sent: KubeObject, user: UserInfo): Promise<KubeObject> {
  const { decision, reason, error } = await authorize(attributesOf(sent.spec, user));
  const ignored = ignoredSelectors(sent.spec.resourceAttributes ?? {});
  const problem = [error ?? "", ignored].filter((text) => text !== "").join("; ");
  sent.status = {
    allowed: decision === "allow",
    ...(decision === "deny" && { denied: true }),
    ...(reason !== "" && { reason }),
    ...(problem !== "" && { evaluationError: problem }),
  };
  return sent;
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Part, user: UserInfo): AuthorizationAttributes {
  const {
    namespace = "",
    verb = "",
    group: apiGroup = "",
    version = "",
    resource = "",
    subresource = "",
    name = "",
  } = resourceAttributes ?? {};
  return {
    user,
    verb: nonResourceAttributes?.verb ?? verb,
    isResourceRequest: resourceAttributes !== undefined,
    path: nonResourceAttributes?.path ?? "",
    group: apiGroup,
    version: version === "" ? "*" : version,
    resource,
    subresource,
    namespace,
    name,
    fieldSelector: selectorText(resourceAttributes?.fieldSelector, "field"),
    labelSelector: selectorText(resourceAttributes?.labelSelector, "label"),
  };
}
