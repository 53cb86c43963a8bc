/** Matches selectors of many terms in the time that the labels or fields of an object need. */
import type { FieldSelector } from "./field-parser.ts";
import { isInt64, type LabelRequirement, type LabelSelector } from "./label-requirement.ts";
import { indexInSorted } from "./sorted-texts.ts";

/** All requirements on one key. */
interface KeyTest {
  /** Whether a requirement fails for objects without the key. */
  isRequired: boolean;
  isForbidden: boolean;
  /** The values of all `in` and `=`, sorted; undefined without them. */
  allowed: readonly string[] | undefined;
  /** The values of all `notin` and `!=`, sorted when all are known; undefined without them. */
  denied: string[] | undefined;
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
  const keys: string[] = [];
  const tests: KeyTest[] = [];
  for (const requirement of requirements) {
    if (keys.length === 0 || requirement.key !== keys.at(-1)) {
      keys.push(requirement.key); // Requirements are sorted by key.
      tests.push(newTest());
    }
    addRequirement(tests.at(-1) as KeyTest, requirement);
  }
  let required = 0;
  for (const test of tests) {
    test.denied?.sort();
    if (test.isRequired) required++;
  }
  return (labels) => {
    if (labels.size < required) return false;
    let found = 0;
    for (const [key, value] of labels) {
      const test = tests[indexInSorted(keys, key)];
      if (test === undefined) continue;
      if (!holds(test, value)) return false;
      if (test.isRequired) found++;
    }
    return found === required;
  };
}

function newTest(): KeyTest {
  return {
    isRequired: false,
    isForbidden: false,
    allowed: undefined,
    denied: undefined,
    above: undefined,
    below: undefined,
  };
}

function addRequirement(test: KeyTest, { operator, values }: LabelRequirement): void {
  if (operator === "!") test.isForbidden = true;
  else if (operator !== "!=" && operator !== "notin") test.isRequired = true;
  if (operator === "=" || operator === "==" || operator === "in") allow(test, values);
  else if (operator === "gt") test.above = largest(test.above, BigInt(values[0] as string));
  else if (operator === "lt") test.below = smallest(test.below, BigInt(values[0] as string));
  else if (operator === "!=" || operator === "notin") deny(test, values);
}

/** Each value that is left is in all lists; each step reads the list of its own requirement. */
function allow(test: KeyTest, values: readonly string[]): void {
  const { allowed } = test;
  test.allowed = allowed === undefined ? values : values.filter((value) => indexInSorted(allowed, value) >= 0);
}

function deny(test: KeyTest, values: readonly string[]): void {
  test.denied ??= [];
  for (const value of values) test.denied.push(value);
}

const largest = (a: bigint | undefined, b: bigint): bigint => (a === undefined || b > a ? b : a);
const smallest = (a: bigint | undefined, b: bigint): bigint => (a === undefined || b < a ? b : a);

function holds({ isForbidden, allowed, denied, above, below }: KeyTest, value: string): boolean {
  if (isForbidden || includes(denied, value) === true || includes(allowed, value) === false) return false;
  if (above === undefined && below === undefined) return true;
  if (!isInt64(value)) return false;
  const number = BigInt(value);
  return (above === undefined || number > above) && (below === undefined || number < below);
}

/** @param sorted undefined: no list */
const includes = (sorted: readonly string[] | undefined, value: string): boolean | undefined =>
  sorted === undefined ? undefined : indexInSorted(sorted, value) >= 0;

function fieldTest({ terms }: FieldSelector): Test {
  const tests = new Map<string, KeyTest>();
  for (const { key, operator, value } of terms) {
    const test = tests.get(key) ?? newTest();
    tests.set(key, test);
    if (operator === "=") allow(test, [value]);
    else deny(test, [value]);
  }
  for (const test of tests.values()) test.denied?.sort();
  return (fields) => {
    for (const [key, test] of tests) if (!holds(test, fields.get(key) ?? "")) return false;
    return true;
  };
}
