/**
 * Semantic versions, parsed and ordered like github.com/blang/semver/v4, with its error messages.
 */
import { quoteGo } from "../../../json/quote.ts";

/** A version such as `1.2.3-rc.1+build`. */
export interface SemanticVersion {
  /** Each a uint64. */
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly prerelease: readonly (bigint | string)[];
  readonly build: readonly string[];
}

/** An invalid version. */
export class SemanticVersionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SemanticVersionError";
  }
}

/** Parses a version. @throws SemanticVersionError */
export function parseSemanticVersion(text: string): SemanticVersion {
  if (text === "") throw new SemanticVersionError("Version string empty");
  const [majorText, minorText, rest] = splitInThree(text);
  if (minorText === undefined || rest === undefined)
    throw new SemanticVersionError("No Major.Minor.Patch elements found");
  const [major, minor] = [numberOf("Major", majorText), numberOf("Minor", minorText)];
  const [unbuilt, build] = cutList(rest, "+");
  const [patchText, prerelease] = cutList(unbuilt, "-");
  return {
    numbers: [major, minor, numberOf("Patch", patchText)],
    prerelease: prerelease.map(prereleaseOf),
    build: build.map(buildOf),
  };
}

/** Splits at the first two dots. */
function splitInThree(text: string): [string, string | undefined, string | undefined] {
  const [first, second, ...others] = text.split(".");
  return [first as string, second, others.length === 0 ? undefined : others.join(".")];
}

function cutList(text: string, separator: string): [before: string, list: readonly string[]] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, []] : [text.slice(0, at), text.slice(at + 1).split(".")];
}

function numberOf(which: "Major" | "Minor" | "Patch", text: string): bigint {
  if (!/^[0-9]*$/.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in ${which.toLowerCase()} number ${quoteGo(text)}`);
  if (/^0./.test(text))
    throw new SemanticVersionError(`${which} number must not contain leading zeroes ${quoteGo(text)}`);
  return toUint64(text);
}

/** @param text digits without leading zeros */
function toUint64(text: string): bigint {
  if (text === "") throw new SemanticVersionError('strconv.ParseUint: parsing "": invalid syntax');
  const value = text.length > 20 ? 2n ** 64n : BigInt(text);
  if (value >= 2n ** 64n)
    throw new SemanticVersionError(`strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

function prereleaseOf(text: string): bigint | string {
  if (text === "") throw new SemanticVersionError("Prerelease is empty");
  if (/^0[0-9]+$/.test(text))
    throw new SemanticVersionError(`Numeric PreRelease version must not contain leading zeroes ${quoteGo(text)}`);
  if (/^[0-9]+$/.test(text)) return toUint64(text);
  if (!/^[0-9A-Za-z-]+$/.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in prerelease ${quoteGo(text)}`);
  return text;
}

function buildOf(text: string): string {
  if (text === "") throw new SemanticVersionError("Build meta data is empty");
  if (!/^[0-9A-Za-z-]+$/.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in build meta data ${quoteGo(text)}`);
  return text;
}

/**
 * Removes a leading `v` and leading zeros, and adds missing numbers.
 *
 * @throws SemanticVersionError
 */
export function normalizeSemanticVersion(text: string): string {
  const parts = splitInThree(text.replace(/^v/, ""))
    .filter((part) => part !== undefined)
    .map(withoutZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) as string))
    throw new SemanticVersionError("short version cannot contain PreRelease/Build meta data");
  return [...parts, "0", "0"].slice(0, 3).join(".");
}

function withoutZeros(part: string): string {
  if (Buffer.byteLength(part) < 2) return part;
  const rest = part.replace(/^0+/, "");
  return /^[0-9]/.test(rest) ? rest : `0${rest}`;
}

/** Compares two versions without their build metadata. @returns -1, 0 or 1 */
export function compareSemanticVersions(left: SemanticVersion, right: SemanticVersion): number {
  for (const [at, number] of left.numbers.entries()) {
    const order = compare(number, right.numbers[at] as bigint);
    if (order !== 0) return order;
  }
  const [isRelease, isOtherRelease] = [left.prerelease.length === 0, right.prerelease.length === 0];
  if (isRelease || isOtherRelease) return compare(Number(isRelease), Number(isOtherRelease));
  for (const [at, one] of left.prerelease.entries()) {
    const other = right.prerelease[at];
    if (other === undefined) return 1;
    const order = comparePrereleases(one, other);
    if (order !== 0) return order;
  }
  return left.prerelease.length < right.prerelease.length ? -1 : 0;
}

/** Numeric identifiers come before alphanumeric ones. */
function comparePrereleases(one: bigint | string, other: bigint | string): number {
  if (typeof one === typeof other) return compare(one, other);
  return typeof one === "bigint" ? -1 : 1;
}

function compare<T extends bigint | number | string>(one: T, other: T): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
