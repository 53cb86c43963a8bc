/** Where columns and fields to select by find their values: JSONPath without braces. Of several values the first counts. */
import {
  findResults,
  JsonPathError,
  JsonPathSyntaxError,
  NumberLiteral,
  type Part,
  parseTemplate,
} from "../../lib/jsonpath/index.ts";

/** @returns undefined for a path that cannot be read; what it returns gives undefined where there is nothing, or no way to get there */
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
