/** The question that a webhook is asked. Source: upstream's authorizer/webhook; authorization.k8s.io/v1 and v1beta1. */
import type { ResourceAttributes, ReviewSpec, SelectorAttributes } from "../../cel-environment/index.ts";
import { encodeAny, encodeSorted, encodeString } from "../../lib/json/encode-any.ts";
import { setMember } from "../../lib/json/values.ts";
import { parseFieldSelector } from "../../lib/selectors/field.ts";
import { type LabelOperator, parseLabelSelector } from "../../lib/selectors/label.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { AuthorizationAttributes } from "../contract.ts";

/** @param selectors gate AuthorizeWithSelectors: whether they are told @returns what is empty is left out */
export function reviewSpec(
  attributes: AuthorizationAttributes,
  { selectors }: { readonly selectors: boolean },
): ReviewSpec {
  const { user, isResourceRequest, path, verb } = attributes;
  return {
    ...(isResourceRequest
      ? { resourceAttributes: resourceAttributes(attributes, selectors) }
      : { nonResourceAttributes: { path, verb } }),
    user: user.name,
    groups: user.groups,
    ...(user.extra.size > 0 && { extra: extrasOf(user.extra) }),
    uid: user.uid,
  };
}

function extrasOf(extra: ReadonlyMap<string, readonly string[]>): NonNullable<ReviewSpec["extra"]> {
  const object: Record<string, readonly string[]> = {};
  for (const [key, values] of extra) setMember(object, key, values);
  return object;
}

function resourceAttributes(attributes: AuthorizationAttributes, selectors: boolean): ResourceAttributes {
  const { namespace, verb, group, version, resource, subresource, name } = attributes;
  return {
    namespace,
    verb,
    group,
    version,
    resource,
    subresource,
    name,
    ...(selectors && {
      fieldSelector: fieldRequirements(attributes.fieldSelector),
      labelSelector: labelRequirements(attributes.labelSelector),
    }),
  };
}

type Requirements = NonNullable<SelectorAttributes["requirements"]>;

/** Selectors narrow: what cannot be read, or said, is left out, and asks for more than is wanted. */
function selectorOf(text: string, read: () => Requirements): SelectorAttributes | undefined {
  if (text === "") return undefined;
  try {
    const requirements = read();
    return requirements.length === 0 ? undefined : { requirements };
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

function fieldRequirements(text: string): SelectorAttributes | undefined {
  return selectorOf(text, () =>
    parseFieldSelector(text).terms.map(({ key, operator, value }) => ({
      key,
      operator: operator === "=" ? "In" : "NotIn",
      values: [value],
    })),
  );
}

const labelOperators: Readonly<Record<LabelOperator, string | undefined>> = {
  "=": "In",
  "==": "In",
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
  gt: undefined,
  lt: undefined,
};

function labelRequirements(text: string): SelectorAttributes | undefined {
  return selectorOf(text, () =>
    parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
      const said = labelOperators[operator];
      return said === undefined ? [] : [{ key, operator: said, values }];
    }),
  );
}

export type ReviewVersion = "v1" | "v1beta1";

/** As Go writes it. */
export function encodeReview(spec: ReviewSpec, version: ReviewVersion): string {
  const apiVersion = `authorization.k8s.io/${version}`;
  return `{"kind":"SubjectAccessReview","apiVersion":"${apiVersion}","metadata":{},"spec":${encodeSpec(spec, version)},"status":{"allowed":false}}\n`;
}

function encodeSpec(
  { resourceAttributes, nonResourceAttributes, user = "", groups = [], extra, uid = "" }: ReviewSpec,
  version: ReviewVersion,
): string {
  const members = [
    resourceAttributes && `"resourceAttributes":${encodeFilled(resourceAttributes)}`,
    nonResourceAttributes && `"nonResourceAttributes":${encodeFilled(nonResourceAttributes)}`,
    user !== "" && `"user":${encodeString(user)}`,
    groups.length > 0 && `"${version === "v1" ? "groups" : "group"}":${encodeAny(groups)}`,
    extra && `"extra":${encodeSorted(extra)}`,
    uid !== "" && `"uid":${encodeString(uid)}`,
  ];
  return `{${members.filter(Boolean).join(",")}}`;
}

/** Members that are empty texts are left out, and values that are none. */
function encodeFilled({ fieldSelector, labelSelector, ...texts }: ResourceAttributes): string {
  const filled: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(texts)) if (text !== "") filled[key] = text;
  for (const [key, selector] of Object.entries({ fieldSelector, labelSelector })) {
    if (selector?.requirements === undefined) continue;
    filled[key] = {
      requirements: selector.requirements.map(({ values = [], ...rest }) =>
        values.length === 0 ? rest : { ...rest, values },
      ),
    };
  }
  return encodeAny(filled);
}
