/**
 * Validates the flags of metrics, with upstream's messages.
 * Source: k8s.io/component-base@v0.36.0/metrics/api/v1/config.go.
 */

import { FieldErrors } from "../apimachinery/field-errors.ts";
import { readBoundedFile } from "../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeYaml, YamlError } from "../lib/yaml/decode.ts";
import type { MetricsOptions } from "./contract.ts";
import { currentRelease } from "./life-cycle.ts";

const metricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const labelName = "[a-zA-Z_][a-zA-Z0-9_]*";
const nameForm = new RegExp(`^${metricName}$`);
const keyForm = new RegExp(`^${metricName},${labelName}$`);
const keyProblem = `must have keys with format \`metricName,labelName\` where metricName matches ${quoteGo(metricName)} and labelName matches ${quoteGo(labelName)}`;

/**
 * Validates the options and reads the manifest of allowed labels.
 *
 * @returns the allowed label values by `metric,label`, of the option or of the manifest
 * @throws Error with upstream's message; several messages are joined in brackets
 */
export async function checkMetricsOptions(options: MetricsOptions): Promise<ReadonlyMap<string, string>> {
  const { showHiddenForVersion, disabled, allowLabels, allowLabelsManifest } = options;
  const errors = new FieldErrors();
  const previous = `${currentRelease.major}.${currentRelease.minor - 1}`;
  if (showHiddenForVersion !== "" && showHiddenForVersion !== previous) {
    const problem = `must be omitted or have the value '${previous}'; only the previous minor version is allowed`;
    errors.invalid("metrics.showHiddenMetricsForVersion", showHiddenForVersion, problem);
  }
  const wrong = disabled.find((name) => !nameForm.test(name));
  if (wrong !== undefined) {
    const problem = `must be fully qualified metric names matching ${quoteGo(nameForm.source)}, got ${quoteGo(wrong)}`;
    errors.invalid("metrics.disabledMetrics", disabled, problem);
  }
  if (hasWrongKey(allowLabels)) errors.invalid("metrics.allowListMapping", Object.fromEntries(allowLabels), keyProblem);
  const manifest =
    allowLabelsManifest === undefined ? new Map<string, string>() : await readManifest(allowLabelsManifest, errors);
  if (allowLabels.size > 0 && allowLabelsManifest !== undefined)
    errors.invalid(
      "metrics",
      Object.fromEntries(allowLabels),
      "cannot specify both allowListMapping and allowListMappingManifest",
    );
  if (!errors.empty) throw new Error(errors.text);
  return allowLabels.size > 0 ? allowLabels : manifest;
}

async function readManifest(path: string, errors: FieldErrors): Promise<Map<string, string>> {
  const field = "metrics.allowListMappingManifest";
  const reject = (problem: string): Map<string, string> => {
    errors.invalid(field, path, problem);
    return new Map();
  };
  let bytes: Buffer;
  try {
    bytes = await readBoundedFile(path);
  } catch (error) {
    return reject(`failed to read allow list manifest: ${(error as Error).message}`);
  }
  const mapping = readMapping(bytes);
  if (typeof mapping === "string") return reject(`failed to parse allow list manifest: ${mapping}`);
  return hasWrongKey(mapping) ? reject(`invalid allow list mapping in manifest: [${field}: ${keyProblem}]`) : mapping;
}

/** @returns the mapping, or an error message */
function readMapping(bytes: Buffer): Map<string, string> | string {
  try {
    const { value } = decodeYaml(bytes);
    if (value === null) return new Map();
    if (typeof value !== "object" || Array.isArray(value)) return "it is not a map of strings";
    const entries = Object.entries(value as Record<string, unknown>);
    if (entries.some(([, text]) => typeof text !== "string")) return "it is not a map of strings";
    return new Map(entries as [string, string][]);
  } catch (error) {
    if (error instanceof YamlError) return error.message;
    throw error;
  }
}

function hasWrongKey(mapping: ReadonlyMap<string, string>): boolean {
  return [...mapping.keys()].some((key) => !keyForm.test(key));
}
