/**
 * Encodes the SubjectAccessReview that is sent to a webhook.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authorizer/webhook/webhook.go.
 */
import type { ResourceAttributes, ReviewSpec, SelectorAttributes } from "../../cel-environment/index.ts";
import { encodeAny, encodeSorted, encodeString } from "../../lib/json/encode-any.ts";
import { setMember } from "../../lib/json/values.ts";
import { parseFieldSelector } from "../../lib/selectors/field.ts";
import { type LabelOperator, parseLabelSelector } from "../../lib/selectors/label.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { AuthorizationAttributes } from "../contract.ts";

/**
 * Converts the attributes of a request into the spec of a review.
 *
 * @param selectors whether the review includes the selectors: the gate AuthorizeWithSelectors
 */
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

/**
 * Omits a selector that cannot be parsed or expressed, so that the review asks for access without a
 * restriction.
 */
function selectorOf(text: string, parse: () => Requirements): SelectorAttributes | undefined {
  if (text === "") return undefined;
  try {
    const requirements = parse();
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
      const reviewOperator = labelOperators[operator];
      return reviewOperator === undefined ? [] : [{ key, operator: reviewOperator, values }];
    }),
  );
}

/** The API versions of a SubjectAccessReview. */
export type ReviewVersion = "v1" | "v1beta1";

/** Encodes a review with the bytes that Go's encoder writes. */
export function encodeReview(spec: ReviewSpec, version: ReviewVersion): string {
  const apiVersion = `authorization.k8s.io/${version}`;
  return `{"kind":"SubjectAccessReview","apiVersion":"${apiVersion}","metadata":{},"spec":${encodeSpec(spec, version)},"status":{"allowed":false}}\n`;
}

function encodeSpec(
  { resourceAttributes, nonResourceAttributes, user = "", groups = [], extra, uid = "" }: ReviewSpec,
  version: ReviewVersion,
): string {
  const members = [
    resourceAttributes && `"resourceAttributes":${encodeNonEmpty(resourceAttributes)}`,
    nonResourceAttributes && `"nonResourceAttributes":${encodeNonEmpty(nonResourceAttributes)}`,
    user !== "" && `"user":${encodeString(user)}`,
    groups.length > 0 && `"${version === "v1" ? "groups" : "group"}":${encodeAny(groups)}`,
    extra && `"extra":${encodeSorted(extra)}`,
    uid !== "" && `"uid":${encodeString(uid)}`,
  ];
  return `{${members.filter(Boolean).join(",")}}`;
}

/** Omits empty strings and empty lists of values. */
function encodeNonEmpty({ fieldSelector, labelSelector, ...texts }: ResourceAttributes): string {
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
