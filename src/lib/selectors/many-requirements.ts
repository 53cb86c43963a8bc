/** Matches selectors of many terms in the time that the labels or fields of an object need. */
import type { FieldSelector } from "./field-parser.ts";
import { isInt64, type LabelSelector } from "./label-requirement.ts";

/** All requirements on one key. */
interface KeyTest {
  /** Whether a requirement fails for objects without the key. */
  isRequired: boolean;
  isForbidden: boolean;
  /** The values of all `in` and `=`; undefined without them. */
  allowed: ReadonlySet<string> | undefined;
  /** The values of all `notin` and `!=`; undefined without them. */
  denied: Set<string> | undefined;
  above: bigint | undefined;
  below: bigint | undefined;
}

type Test = (values: ReadonlyMap<string, string>) => boolean;

const labelTests = new WeakMap<LabelSelector, Test>();
const fieldTests = new WeakMap<FieldSelector, Test>();

/** Whether a selector matches, as `matchesLabels`. The first call reads all requirements. */
export function matchesManyLabels(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  let test = labelTests.get(selector);
  if (test === undefined) {
    test = labelTest(selector);
    labelTests.set(selector, test);
  }
  return test(labels);
}

/** Whether a selector matches, as `matchesFields`. The first call reads all terms. */
export function matchesManyFields(selector: FieldSelector, fields: ReadonlyMap<string, string>): boolean {
  let test = fieldTests.get(selector);
  if (test === undefined) {
    test = fieldTest(selector);
    fieldTests.set(selector, test);
  }
  return test(fields);
}

function labelTest({ requirements }: LabelSelector): Test {
  const tests = new Map<string, KeyTest>();
  for (const { key, operator, values } of requirements) {
    const test = testOf(tests, key);
    if (operator === "!") test.isForbidden = true;
    else if (operator !== "!=" && operator !== "notin") test.isRequired = true;
    if (operator === "=" || operator === "==" || operator === "in") allow(test, values);
    else if (operator === "gt") test.above = largest(test.above, BigInt(values[0] as string));
    else if (operator === "lt") test.below = smallest(test.below, BigInt(values[0] as string));
    else for (const value of values) deny(test, value);
  }
  let required = 0;
  for (const { isRequired } of tests.values()) if (isRequired) required++;
  return (labels) => {
    if (labels.size < required) return false;
    let found = 0;
    for (const [key, value] of labels) {
      const test = tests.get(key);
      if (test === undefined) continue;
      if (!holds(test, value)) return false;
      if (test.isRequired) found++;
    }
    return found === required;
  };
}

function testOf(tests: Map<string, KeyTest>, key: string): KeyTest {
  const existing = tests.get(key);
  if (existing !== undefined) return existing;
  const test: KeyTest = {
    isRequired: false,
    isForbidden: false,
    allowed: undefined,
    denied: undefined,
    above: undefined,
    below: undefined,
  };
  tests.set(key, test);
  return test;
}

/** Each value that is left is in all lists; each step reads the list of its own requirement. */
function allow(test: KeyTest, values: readonly string[]): void {
  const { allowed } = test;
  test.allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed.has(value)));
}

function deny(test: KeyTest, value: string): void {
  test.denied ??= new Set();
  test.denied.add(value);
}

const largest = (a: bigint | undefined, b: bigint): bigint => (a === undefined || b > a ? b : a);
const smallest = (a: bigint | undefined, b: bigint): bigint => (a === undefined || b < a ? b : a);

function holds({ isForbidden, allowed, denied, above, below }: KeyTest, value: string): boolean {
  if (isForbidden || denied?.has(value) || allowed?.has(value) === false) return false;
  if (above === undefined && below === undefined) return true;
  if (!isInt64(value)) return false;
  const number = BigInt(value);
  return (above === undefined || number > above) && (below === undefined || number < below);
}

function fieldTest({ terms }: FieldSelector): Test {
  const tests = new Map<string, KeyTest>();
  for (const { key, operator, value } of terms) {
    const test = testOf(tests, key);
    if (operator === "=") allow(test, [value]);
    else deny(test, value);
  }
  return (fields) => {
    for (const [key, test] of tests) if (!holds(test, fields.get(key) ?? "")) return false;
    return true;
  };
}
