/**
 * Flags of the versions that a server emulates and must be compatible with. This server has one version of each; other
 * values get upstream's errors, or are not supported. Source:
 * k8s.io/component-base@v0.36.0/compatibility/{registry,version}.go.
 */
import { joinErrors, quoteGo } from "../../lib/json/quote.ts";
import { type CommandOptions, type Flag, FlagValueError } from "./contract.ts";
import { list } from "./flag-types.ts";

/** `1.36` is `[1, 36]`. */
type Version = readonly [major: number, minor: number];

const component = "kube";
const binary: Version = [1, 36];
const floor: Version = [1, 33];
const compatible: Version = [1, 35];

export const versionFlags: readonly Flag[] = [
  {
    name: "emulated-version",
    option: "command.emulatedVersions",
    type: list("versions"),
    help: `The version of the API: ${format(binary)}. Others are rejected.`,
    hidden: true,
  },
  {
    name: "min-compatibility-version",
    option: "command.minCompatibilityVersions",
    type: list("versions"),
    help: `The oldest version that can share the store: ${format(compatible)}. Others are rejected.`,
    hidden: true,
  },
];

/** The values of both flags. */
type Versions = Pick<CommandOptions, "emulatedVersions" | "minCompatibilityVersions">;

/** @returns upstream's message, or one for versions that this server does not have; undefined without a problem */
export function versionProblem(versions: Versions): string | undefined {
  try {
    check(versions);
    return undefined;
  } catch (error) {
    if (error instanceof FlagValueError) return error.message;
    throw error;
  }
}

/** @throws FlagValueError */
function check({ emulatedVersions, minCompatibilityVersions }: Versions): void {
  const emulated = parse(emulatedVersions) ?? binary;
  const before: Version = [emulated[0], emulated[1] - 1];
  const min = parse(minCompatibilityVersions) ?? (compare(before, floor) < 0 ? floor : before);
  const problems: string[] = [];
  if (compare(emulated, binary) > 0 || compare(emulated, floor) < 0)
    problems.push(`emulation version ${format(emulated)} is not between [${format(floor)}, ${format(binary)}.0]`);
  if (compare(min, emulated) > 0 || compare(min, floor) < 0)
    problems.push(
      `minCompatibilityVersion version ${format(min)} is not between [${format(floor)}, ${format(emulated)}]`,
    );
  if (problems.length > 0) throw new FlagValueError(joinErrors(problems));
  if (compare(emulated, binary) !== 0)
    throw new FlagValueError(`--emulated-version ${format(emulated)}: this server supports only ${format(binary)}`);
  if (compare(min, compatible) !== 0)
    throw new FlagValueError(
      `--min-compatibility-version ${format(min)}: this server supports only ${format(compatible)}`,
    );
}

/** @returns undefined without a value @throws FlagValueError */
function parse(values: readonly string[]): Version | undefined {
  let found: Version | undefined;
  for (const value of values) {
    const sign = value.indexOf("=");
    const name = sign < 0 ? component : value.slice(0, sign).trim();
    const version = parseVersion(name, sign < 0 ? value : value.slice(sign + 1).trim());
    if (name !== component) throw new FlagValueError(`component not registered: ${name}`);
    if (found !== undefined)
      throw new FlagValueError(`duplicate version flag, ${name}=${format(found)} and ${name}=${format(version)}`);
    found = version;
  }
  return found;
}

/** @throws FlagValueError */
function parseVersion(name: string, text: string): Version {
  const [, numbers] = /^\s*v?(\d+(?:\.\d+)*)/.exec(text) ?? [];
  if (numbers === undefined) throw new FlagValueError(`could not parse ${quoteGo(text)} as version`);
  const [major, minor, patch = 0] = numbers.split(".").map(Number);
  if (major === undefined || minor === undefined) throw new FlagValueError(`illegal version string ${quoteGo(text)}`);
  if (patch !== 0) throw new FlagValueError(`patch version not allowed, got: ${name}=${major}.${minor}.${patch}`);
  return [major, minor];
}

function format([major, minor]: Version): string {
  return `${major}.${minor}`;
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}
