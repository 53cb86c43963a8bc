/**
 * Validates the configuration for drivers, and the selectors of devices.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { isObject } from "../../lib/json/values.ts";
import { addExpressionProblem } from "../expression-problem.ts";
import { items, type Part } from "../fields.ts";
import { validateDriverName } from "./device-names.ts";
import { validateList } from "./lists.ts";
import type { DeviceFeatures, SelectorChecker } from "./selector-checker.ts";

export const configsMax = 32;
const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;
const parametersBytesMax = 10 * 1024;

export interface SelectorRules extends DeviceFeatures {
  /** If undefined, expressions are not checked. */
  readonly checker: SelectorChecker | undefined;
  readonly isStored: boolean;
}

export function validateSelectors(selectors: unknown, rules: SelectorRules, path: string, errors: FieldErrors): void {
  validateList(
    items(selectors),
    selectorsMax,
    ({ cel }, at) => validateSelector(cel, rules, `${at}.cel`, errors),
    path,
    errors.covered("maxItems"),
  );
}

function validateSelector(
  cel: Part | undefined,
  { checker, ...rules }: SelectorRules,
  path: string,
  errors: FieldErrors,
): void {
  if (!cel) return errors.required(path);
  const text: string = cel.expression ?? "";
  if (Buffer.byteLength(text) > expressionBytesMax) return errors.tooLong(`${path}.expression`, expressionBytesMax);
  const found = checker?.check({ text, ...rules });
  if (found === "costly") errors.forbidden(`${path}.expression`, "too complex, exceeds cost limit");
  else if (found !== undefined) addExpressionProblem(errors, `${path}.expression`, text, found.problem);
}

/**
 * @param isStored whether the configuration is stored already, so that its parameters may have any
 *   size
 */
export function validateConfiguration({ opaque }: Part, isStored: boolean, path: string, errors: FieldErrors): void {
  if (!opaque) return errors.required(`${path}.opaque`);
  validateDriverName(opaque.driver ?? "", `${path}.opaque.driver`, errors);
  validateData(
    opaque.parameters,
    isStored ? Number.POSITIVE_INFINITY : parametersBytesMax,
    `${path}.opaque.parameters`,
    errors,
  );
}

/**
 * Validates a JSON object of any shape. The limit applies to its size as JSON without whitespace.
 */
export function validateData(data: unknown, bytesMax: number, path: string, errors: FieldErrors): void {
  if (data === undefined || data === null) errors.required(path);
  else if (bytesOf(data) > bytesMax) errors.tooLong(path, bytesMax);
  else if (!isObject(data)) errors.invalid(path, "<value omitted>", "must be a valid JSON object");
}

/** What `encodeAny` escapes and clients do not, or any other escape. */
const escapes = /\\(?:u(003[ce]|0026|202[89])|.)/g;

function bytesOf(data: unknown): number {
  const sent = encodeAny(data).replaceAll(escapes, (text, code?: string) =>
    code === undefined ? text : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.byteLength(sent);
}
