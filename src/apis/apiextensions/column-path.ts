/**
 * Where a column finds its value: the part of JSONPath that definitions use, names, indexes, `[*]` and filters by equality. Of several values the
 * first counts. Source: client-go's util/jsonpath
 */
import { isJsonObject, memberOf } from "../../lib/structural-schema/json-object.ts";

/** From a value to those that a step leads to. */
type Step = (value: unknown) => readonly unknown[];

const name = "(?:\\\\.|[^.[\\]\\\\])+";
const step = new RegExp(
  `\\.(${name})|\\.?\\[(?:'([^']*)'|"([^"]*)"|(-?\\d+)|(\\*)|\\?\\(\\s*@\\.?(${name}(?:\\.${name})*?)\\s*(==|!=)\\s*(?:'([^']*)'|"([^"]*)"|(true|false|-?\\d+))\\s*\\))\\]`,
  "gy",
);

/** @returns undefined for what goes beyond it (`..`, unions, slices): such a column stays empty */
export function compileColumnPath(text: string): ((object: unknown) => unknown) | undefined {
  const steps: Step[] = [];
  step.lastIndex = 0;
  let end = 0;
  for (let found = step.exec(text); found !== null; found = step.exec(text)) {
    steps.push(stepOf(found));
    end = step.lastIndex;
  }
  if (end !== text.length || steps.length === 0) return undefined;
  return (object) => {
    let values: readonly unknown[] = [object];
    for (const follow of steps) values = values.flatMap(follow);
    return values[0];
  };
}

function stepOf([, plain, single, double, index, all, path, operator, text, otherText, literal]: RegExpExecArray): Step {
  const field = plain?.replace(/\\(.)/g, "$1") ?? single ?? double;
  if (field === "*" || all !== undefined) return (value) => (isJsonObject(value) ? Object.values(value) : Array.isArray(value) ? value : []);
  if (field !== undefined) return (value) => memberStep(value, field);
  if (index !== undefined) return (value) => (Array.isArray(value) && value.at(Number(index)) !== undefined ? [value.at(Number(index))] : []);
  const wanted = text ?? otherText ?? JSON.parse(literal as string);
  const names = (path as string).split(".");
  const matches = (item: unknown): boolean => {
    const found = names.reduce<unknown>((value, part) => memberStep(value, part)[0], item);
    return found !== undefined && (found === wanted) === (operator === "==");
  };
  return (value) => (Array.isArray(value) ? value.filter(matches) : []);
}

function memberStep(value: unknown, field: string): readonly unknown[] {
  const found = isJsonObject(value) ? memberOf(value, field) : undefined;
  return found === undefined ? [] : [found];
}
