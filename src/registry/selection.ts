/** Label and field selectors, applied to the entries of a resource. */

import { badRequest } from "../apimachinery/errors.ts";
import type { ResourceDefinition } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { type FieldSelector, matchesFields, parseFieldSelector, requiresExactMatch } from "../lib/selectors/field.ts";
import { type LabelSelector, matchesLabels, parseLabelSelector } from "../lib/selectors/label.ts";
import { SelectorError } from "../lib/selectors/selector-error.ts";
import type { Entry } from "../watch-cache/contract.ts";

/** The parsed selectors of a request. */
export interface Selection {
  /** Whether it matches every object. */
  readonly all: boolean;
  /** Whether it selects neither by labels nor by fields; it can select a shard. */
  readonly isPlain: boolean;
  /** Equal for selections that match the same objects. */
  readonly text: string;
  /** As sent; empty when absent. */
  readonly fieldSelector: string;
  /** The name that `metadata.name` must have, if the field selector requires one. */
  readonly name: string | undefined;
  /** The value that a field must have, if the field selector requires one. */
  fixed(field: string): string | undefined;
  /** The shard that all matching objects are in; undefined for all shards. */
  readonly shard: SelectedShard | undefined;
  matches(entry: Pick<Entry, "index">): boolean;
}

/** A selected shard. */
export interface SelectedShard {
  /** The shard selector as `shardInfo` contains it. */
  readonly text: string;
  has(entry: Pick<Entry, "index">): boolean;
}

interface SelectorTexts {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Matches every object. */
export const everything: Selection = {
  all: true,
  isPlain: true,
  text: "",
  fieldSelector: "",
  name: undefined,
  fixed: () => undefined,
  shard: undefined,
  matches: () => true,
};

/**
 * @throws ApiError 400 with upstream's text when a selector cannot be parsed or names an
 *   unsupported field
 */
export function selectionOf(definition: ResourceDefinition, selectors: SelectorTexts): Selection {
  if (selectors.labelSelector === "" && selectors.fieldSelector === "") return everything;
  const { labels, fields } = parseSelectors(selectors);
  for (const { key } of fields.terms) checkSelectable(definition, key);
  return selection(labels, fields, selectors);
}

/** @throws ApiError 400 with upstream's text */
export function parseSelectors({ labelSelector, fieldSelector }: SelectorTexts): {
  labels: LabelSelector;
  fields: FieldSelector;
} {
  return { labels: parse(parseLabelSelector, labelSelector), fields: parse(parseFieldSelector, fieldSelector) };
}

function selection(
  labels: LabelSelector,
  fields: FieldSelector,
  { labelSelector, fieldSelector }: SelectorTexts,
): Selection {
  const byLabels = labels.requirements.length > 0;
  const byFields = fields.terms.length > 0;
  if (!byLabels && !byFields) return everything;
  return {
    all: false,
    isPlain: false,
    text: `${labelSelector}\n${fieldSelector}`,
    fieldSelector,
    name: requiresExactMatch(fields, "metadata.name"),
    fixed: (field) => requiresExactMatch(fields, field),
    shard: undefined,
    matches: ({ index }) =>
      (!byFields || matchesFields(fields, index.fields)) && (!byLabels || matchesLabels(labels, index.labels)),
  };
}

function parse<T>(read: (text: string) => T, text: string): T {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

/**
 * Kinds that define selectable fields support only those; cluster-scoped ones among them do not
 * support the namespace.
 * @throws ApiError 400
 */
export function checkSelectable(
  { group, resource, namespaced, strategy, custom }: ResourceDefinition,
  field: string,
): void {
  const own = strategy.selectableFields;
  const hasOwn = Object.keys(own).length > 0;
  if (
    field === "metadata.name" ||
    (field === "metadata.namespace" && (namespaced || (!hasOwn && !custom))) ||
    Object.hasOwn(own, field)
  )
    return;
  if (custom || (hasOwn && group !== "batch")) throw badRequest(`field label not supported: ${field}`);
  if (hasOwn && group === "batch" && resource === "jobs")
    throw badRequest(`field label ${quoteGo(field)} not supported for Job`);
  throw badRequest(`${quoteGo(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}
