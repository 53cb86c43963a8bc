/**
 * The releases of Kubernetes whose behavior a server has, and the options that choose them. Rules and messages are those of
 * k8s.io/component-base@v0.36.0/compatibility/{registry,version}.go and
 * k8s.io/apiserver@v0.36.0/pkg/server/options/server_run_options.go.
 */
import { joinErrors, quoteGo } from "../lib/json/quote.ts";

/** Releases as the second number of their version: 34 is Kubernetes 1.34. */
export interface EffectiveVersion {
  /** The release whose gates, resources and defaults a server has. */
  readonly emulated: number;
  /** The oldest release of the servers that share the store: new objects have only what it knows. */
  readonly minCompatible: number;
}

/** The options that choose the releases. */
export interface VersionOptions {
  /**
   * The release whose API is emulated, such as `1.34` or `kube=1.34`: its feature gates, resources, defaults and messages.
   * From 1.33 to 1.36, which is the default.
   */
  readonly emulatedVersion?: string;
  /**
   * The oldest release of the servers that share the store, such as `1.34`: objects are stored at versions, and new CEL
   * expressions use functions, that it knows. From 1.33 to the emulated version; by default the one before it.
   */
  readonly minCompatibilityVersion?: string;
  /** Whether versions that follow the emulated release are served, too, where an older version of the resource is. */
  readonly emulationForwardCompatible: boolean;
  /** Whether `runtimeConfig` can enable versions and resources that follow the emulated release. */
  readonly runtimeConfigEmulationForwardCompatible: boolean;
}

/** The release of the API that this server has when it emulates none. */
export const binaryMinor = 36;
/** The oldest release that can be emulated: three before that of the binary. */
export const emulatedMinorMin = binaryMinor - 3;
/** Without options. */
export const defaultVersion: EffectiveVersion = { emulated: binaryMinor, minCompatible: binaryMinor - 1 };

/** `1.36` is `[1, 36]`. */
type Version = readonly [major: number, minor: number];

const component = "kube";
const binary: Version = [1, binaryMinor];
const floor: Version = [1, emulatedMinorMin];

/** @throws Error when an option is malformed, or the versions are out of range or in the wrong order */
export function parseEffectiveVersion(options: VersionOptions): EffectiveVersion {
  const emulated = parseComponents(options.emulatedVersion) ?? binary;
  const before: Version = [emulated[0], Math.max(0, emulated[1] - 1)];
  const compatible = parseComponents(options.minCompatibilityVersion) ?? (compare(before, floor) < 0 ? floor : before);
  const problems = [...rangeProblems(emulated, compatible), ...forwardProblems(emulated, options)];
  if (problems.length > 0) throw new Error(joinErrors(problems));
  return { emulated: emulated[1], minCompatible: compatible[1] };
}

/** @param minor such as 34 @returns `1.34` */
export function formatRelease(minor: number): string {
  return format([1, minor]);
}

function rangeProblems(emulated: Version, compatible: Version): string[] {
  const problems: string[] = [];
  if (compare(emulated, binary) > 0 || compare(emulated, floor) < 0)
    problems.push(`emulation version ${format(emulated)} is not between [${format(floor)}, ${format(binary)}.0]`);
  if (compare(compatible, emulated) > 0 || compare(compatible, floor) < 0) {
    const range = `[${format(floor)}, ${format(emulated)}]`;
    problems.push(`minCompatibilityVersion version ${format(compatible)} is not between ${range}`);
  }
  return problems;
}

function forwardProblems(
  emulated: Version,
  { emulationForwardCompatible, runtimeConfigEmulationForwardCompatible }: VersionOptions,
): string[] {
  if (compare(emulated, binary) !== 0) return [];
  const names = [
    ...(emulationForwardCompatible ? ["EmulationForwardCompatible"] : []),
    ...(runtimeConfigEmulationForwardCompatible ? ["RuntimeConfigEmulationForwardCompatible"] : []),
  ];
  return names.map(
    (name) =>
      `ServerRunOptions.${name} cannot be set to true if the emulation version is the same as the binary version`,
  );
}

/** @param text `1.34` or `kube=1.34`, separated by commas @returns undefined without one @throws Error */
function parseComponents(text = ""): Version | undefined {
  let found: Version | undefined;
  for (const value of text === "" ? [] : text.split(",")) {
    const sign = value.indexOf("=");
    const name = sign < 0 ? component : value.slice(0, sign).trim();
    const version = parseVersion(name, sign < 0 ? value : value.slice(sign + 1).trim());
    if (name !== component) throw new Error(`component not registered: ${name}`);
    if (found !== undefined)
      throw new Error(`duplicate version flag, ${name}=${format(found)} and ${name}=${format(version)}`);
    found = version;
  }
  return found;
}

/** Source: `Parse` in k8s.io/apimachinery@v0.36.0/pkg/util/version/version.go. @throws Error */
function parseVersion(name: string, text: string): Version {
  const [, numbers] = /^\s*v?(\d+(?:\.\d+)*)/.exec(text) ?? [];
  if (numbers === undefined) throw new Error(`could not parse ${quoteGo(text)} as version`);
  const [major, minor, patch = 0] = numbers.split(".").map(Number);
  if (major === undefined || minor === undefined) throw new Error(`illegal version string ${quoteGo(text)}`);
  if (/^0\d/.test(numbers)) {
    const first = quoteGo(numbers.slice(0, numbers.indexOf(".")));
    throw new Error(`illegal zero-prefixed version component ${first} in ${quoteGo(text)}`);
  }
  if (patch !== 0) throw new Error(`patch version not allowed, got: ${name}=${major}.${minor}.${patch}`);
  return [major, minor];
}

function format([major, minor]: Version): string {
  return `${major}.${minor}`;
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}
