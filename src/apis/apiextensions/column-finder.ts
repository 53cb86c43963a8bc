/**
 * Finds the values of printer columns and selectable fields: JSONPath without braces, whose first
 * result counts.
 */
import {
  findResults,
  JsonPathError,
  JsonPathSyntaxError,
  NumberLiteral,
  type Part,
  parseTemplate,
} from "../../lib/jsonpath/index.ts";

/**
 * @param path JSONPath without braces
 * @returns undefined for an invalid path; the finder returns undefined for an object without a
 *   value at the path
 */
export function columnFinder(path: string): ((object: unknown) => unknown) | undefined {
  const parts = parse(`{${path}}`);
  return parts && ((object) => firstOf(parts, object));
}

function parse(template: string): readonly Part[] | undefined {
  try {
    return parseTemplate(template);
  } catch (error) {
    if (error instanceof JsonPathSyntaxError) return undefined;
    throw error;
  }
}

function firstOf(parts: readonly Part[], object: unknown): unknown {
  try {
    const value = findResults(parts, object)[0]?.[0];
    return value instanceof NumberLiteral && value.isFloat ? value.value : value;
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}
