/** Semantic versions. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/semverlib.go, version 1 */
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, intType, opaqueType, stringType } from "../../types.ts";
import { CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { intOf } from "../../values/int.ts";
import { type CelInt, CelOpaque, type CelValue, type Equality } from "../../values/value.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal, reading } from "./costs.ts";
import {
  compareSemanticVersions,
  normalizeSemanticVersion,
  parseSemanticVersion,
  type SemanticVersion,
  SemanticVersionError,
} from "./semantic-version.ts";

/** The type of `semver("1.2.3")`. */
export const semverType = opaqueType("kubernetes.Semver");

class CelSemver extends CelOpaque {
  readonly version: SemanticVersion;
  constructor(version: SemanticVersion) {
    super();
    this.version = version;
  }
  get type(): CelType {
    return semverType;
  }
  equals(other: CelValue): Equality {
    return other instanceof CelSemver ? compare(this, other) === 0 : noSuchOverload();
  }
  toString(): string {
    const { numbers, prerelease, build } = this.version;
    return [
      numbers.join("."),
      prerelease.length > 0 ? `-${prerelease.join(".")}` : "",
      build.length > 0 ? `+${build.join(".")}` : "",
    ].join("");
  }
}

function parse(text: string, isNormalized = false): CelSemver | CelFailure {
  try {
    return new CelSemver(parseSemanticVersion(isNormalized ? normalizeSemanticVersion(text) : text));
  } catch (error) {
    if (error instanceof SemanticVersionError) return fail(error.message);
    throw error;
  }
}

function isSemver(text: string, isNormalized = false): boolean {
  return !(parse(text, isNormalized) instanceof CelFailure);
}

function compare(left: CelSemver, right: CelSemver): number {
  return compareSemanticVersions(left.version, right.version);
}

/** A number beyond int64 wraps around, as in Kubernetes. */
function number(at: 0 | 1 | 2): (semver: CelSemver) => CelInt {
  return ({ version }) => intOf(BigInt.asIntN(64, version.numbers[at])) as CelInt;
}

const [one, two] = [[semverType], [semverType, semverType]];

const parsing: readonly FunctionDeclaration[] = [
  declare(
    "semver",
    overload("string_to_semver", [stringType], semverType, { evaluate: (text: string) => parse(text) }),
    overload("string_bool_to_semver", [stringType, boolType], semverType, { evaluate: parse }),
  ),
  declare(
    "isSemver",
    overload("is_semver_string", [stringType], boolType, { evaluate: (text: string) => isSemver(text) }),
    overload("is_semver_string_bool", [stringType, boolType], boolType, { evaluate: isSemver }),
  ),
];

const operations: readonly FunctionDeclaration[] = [
  declare(
    "isGreaterThan",
    member("semver_is_greater_than", two, boolType, { evaluate: (a: CelSemver, b: CelSemver) => compare(a, b) > 0 }),
  ),
  declare(
    "isLessThan",
    member("semver_is_less_than", two, boolType, { evaluate: (a: CelSemver, b: CelSemver) => compare(a, b) < 0 }),
  ),
  declare("compareTo", member("semver_compare_to", two, intType, { evaluate: compare })),
  declare("major", member("semver_major", one, intType, { evaluate: number(0) })),
  declare("minor", member("semver_minor", one, intType, { evaluate: number(1) })),
  declare("patch", member("semver_patch", one, intType, { evaluate: number(2) })),
];

/** `semver`, `isSemver` and functions of versions. */
export const kubernetesSemver = library({
  functions: [
    ...parsing.map((declared) => ({ ...declared, ...reading(1, { keepsSize: false }) })),
    ...operations.map((declared) => ({ ...declared, ...nominal })),
  ],
});
