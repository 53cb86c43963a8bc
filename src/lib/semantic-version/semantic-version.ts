/**
 * Semantic versions, read strictly: `1.2.3-alpha.1+build`. Source: semver.org 2.0.0;
 * github.com/blang/semver/v4 for the range of numbers, 64 bits.
 */

import { clampedInteger } from "../text/integer.ts";

export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
}

export const zeroVersion: SemanticVersion = { numbers: [0n, 0n, 0n], prerelease: [] };

const numberMax = 2n ** 64n - 1n;

/** @returns undefined when the text is not a semantic version */
export function parseVersion(text: string): SemanticVersion | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/.exec(text);
  if (match === null) return undefined;
  const numbers = match.slice(1, 4).map(clampedInteger);
  const prerelease = match[4]?.split(".") ?? [];
  const build = match[5]?.split(".") ?? [];
  const isSound =
    numbers.every((number) => number <= numberMax) &&
    prerelease.every(
      (part) =>
        part !== "" &&
        (!isNumber(part) || (clampedInteger(part) <= numberMax && (part === "0" || !part.startsWith("0")))),
    ) &&
    build.every((part) => part !== "");
  return isSound ? { numbers, prerelease } : undefined;
}

const isNumber = (part: string): boolean => /^\d+$/.test(part);

/** Orders versions. @returns a negative number when `a` precedes `b`, 0 when neither does */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] as bigint;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

/** Numbers precede words. */
function comparePart(a: string, b: string): number {
  if (a === b) return 0;
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  const isLess = isNumber(a) ? BigInt(a) < BigInt(b) : a < b;
  return isLess ? -1 : 1;
}
