/**
 * Encodes values as gnostic does in its messages: YAML in block style, keys in their order. Source:
 * go-yaml v3 with its default indentation.
 */
import { encodeAny } from "../lib/json/encode-any.ts";
import { yamlOfJson } from "../lib/yaml/encode.ts";

/** Encodes a JSON value as YAML. @returns text that ends with a newline */
export function blockYaml(value: unknown): string {
  return `${block(value, 0)}\n`;
}

/** @param column the column of the first line and the indentation of the others */
function block(value: unknown, column: number): string {
  if (typeof value !== "object" || value === null) return scalar(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((item) => `- ${block(item, column + 2)}`).join(newLine(column));
  }
  const members = Object.entries(value);
  if (members.length === 0) return "{}";
  return members.map(([key, one]) => `${scalar(key)}:${member(one, column)}`).join(newLine(column));
}

function member(value: unknown, column: number): string {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return ` ${block(value, column)}`;
  const inner = Math.floor(column / 4) * 4 + 4;
  return newLine(inner) + block(value, inner);
}

function newLine(column: number): string {
  return `\n${" ".repeat(column)}`;
}

/** Strings with several lines remain JSON strings, which are valid YAML. */
function scalar(value: unknown): string {
  const json = encodeAny(value);
  return json.length > 70 || json.includes("\\n") ? json : yamlOfJson(Buffer.from(json)).trimEnd();
}
