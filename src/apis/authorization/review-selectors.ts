/**
 * Selectors in access reviews: as text, or as requirements. Unsupported requirements are ignored, which makes the request
 * wider, and reported. Source: KEP-4601.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { formatFieldSelector, parseFieldSelector } from "../../lib/selectors/field.ts";
import { formatLabelSelector } from "../../lib/selectors/label.ts";
import { labelSelectorFromObject } from "../../lib/selectors/label-object.ts";
import { parseLabelSelector } from "../../lib/selectors/label-parser.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import { items, type Part } from "../fields.ts";

type Kind = "field" | "label";

/** Reports the problems of a selector. */
export function validateSelector(selector: Part | undefined, path: string, kind: Kind, errors: FieldErrors): void {
  if (selector === undefined) return;
  const { rawSelector = "" } = selector;
  const requirements = items(selector.requirements);
  if (rawSelector !== "" && requirements.length > 0) {
    errors.invalid(`${path}.rawSelector`, rawSelector, "may not specified at the same time as requirements");
  }
  if (rawSelector === "" && requirements.length === 0) {
    errors.required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`);
  }
  for (const [index, requirement] of requirements.entries())
    validateRequirement(requirement, `${path}.requirements[${index}]`, kind, errors);
}

/** Unknown operators may be those of later releases, and are accepted. */
function validateRequirement(
  { key = "", operator = "", values = [] }: Part,
  path: string,
  kind: Kind,
  errors: FieldErrors,
): void {
  if (kind === "field" && key === "") errors.required(`${path}.key`, "must be specified");
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    errors.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if (kind === "field") return;
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  for (const [index, value] of values.entries())
    addInvalid(errors, `${path}.values[${index}]`, value, labelValueProblems(value));
}

/** Formats the supported requirements of a selector. */
export function selectorText(selector: Part | undefined, kind: Kind): string {
  return read(selector, kind).texts.join(",");
}

/** Describes ignored requirements. @returns empty when there are none */
export function ignoredSelectors(attributes: Part): string {
  return (["field", "label"] as const)
    .flatMap((kind) => {
      const { texts, failed } = read(attributes[`${kind}Selector`], kind);
      const how = texts.length > 0 ? "partially ignored" : "ignored";
      return failed ? [`spec.resourceAttributes.${kind}Selector ${how} due to parse error`] : [];
    })
    .join("; ");
}

function read(selector: Part | undefined, kind: Kind): { texts: string[]; failed: boolean } {
  const { rawSelector = "" } = selector ?? {};
  const parts =
    rawSelector === ""
      ? items(selector?.requirements).map((requirement) => () => requirementText(requirement, kind))
      : [() => rawText(rawSelector, kind)];
  const texts: string[] = [];
  let failed = false;
  for (const part of parts) {
    const text = understood(part);
    if (text === undefined) failed = true;
    else if (text !== "") texts.push(text);
  }
  return { texts, failed };
}

function understood(part: () => string): string | undefined {
  try {
    return part();
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

function rawText(text: string, kind: Kind): string {
  return kind === "field"
    ? formatFieldSelector(parseFieldSelector(text))
    : formatLabelSelector(parseLabelSelector(text));
}

/** @throws SelectorError also for requirements that field selectors do not support yet */
function requirementText({ key = "", operator = "", values = [] }: Part, kind: Kind): string {
  if (kind === "label")
    return formatLabelSelector(labelSelectorFromObject({ matchExpressions: [{ key, operator, values }] }));
  if (values.length !== 1 || (operator !== "In" && operator !== "NotIn"))
    throw new SelectorError(`fieldSelectors do not yet support ${operator}`);
  return formatFieldSelector({ terms: [{ key, operator: operator === "In" ? "=" : "!=", value: values[0] }] });
}
