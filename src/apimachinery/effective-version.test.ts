import assert from "node:assert/strict";
import { test } from "node:test";
import { type EffectiveVersion, parseEffectiveVersion, type VersionOptions } from "./effective-version.ts";

const parse = (options: Partial<VersionOptions>): EffectiveVersion =>
  parseEffectiveVersion({
    emulationForwardCompatible: false,
    runtimeConfigEmulationForwardCompatible: false,
    ...options,
  });

const rows: [emulatedVersion: string | undefined, minCompatibilityVersion: string | undefined, EffectiveVersion][] = [
  [undefined, undefined, { emulated: 36, minCompatible: 35 }],
  ["", "", { emulated: 36, minCompatible: 35 }],
  ["1.36", undefined, { emulated: 36, minCompatible: 35 }],
  ["1.36", " kube = v1.36.0 ", { emulated: 36, minCompatible: 36 }],
  ["1.35", undefined, { emulated: 35, minCompatible: 34 }],
  ["kube=1.34", undefined, { emulated: 34, minCompatible: 33 }],
  ["1.33", undefined, { emulated: 33, minCompatible: 33 }],
  ["v1.34.0", "1.34", { emulated: 34, minCompatible: 34 }],
  ["1.35", "1.33", { emulated: 35, minCompatible: 33 }],
];
for (const [emulatedVersion, minCompatibilityVersion, expected] of rows) {
  test(`emulates ${emulatedVersion} with the minimum ${minCompatibilityVersion}`, () =>
    assert.deepEqual(
      parse({
        ...(emulatedVersion !== undefined && { emulatedVersion }),
        ...(minCompatibilityVersion !== undefined && { minCompatibilityVersion }),
      }),
      expected,
    ));
}

const forward = "cannot be set to true if the emulation version is the same as the binary version";
const errors: [options: Partial<VersionOptions>, message: string][] = [
  [
    { emulatedVersion: "1.32" },
    "[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, 1.32]]",
  ],
  [{ emulatedVersion: "1.37" }, "emulation version 1.37 is not between [1.33, 1.36.0]"],
  [{ emulatedVersion: "2.0" }, "emulation version 2.0 is not between [1.33, 1.36.0]"],
  [{ emulatedVersion: "a" }, 'could not parse "a" as version'],
  [{ emulatedVersion: "1" }, 'illegal version string "1"'],
  [{ emulatedVersion: "01.34" }, 'illegal zero-prefixed version component "01" in "01.34"'],
  [{ emulatedVersion: "kube=1.36.1" }, "patch version not allowed, got: kube=1.36.1"],
  [{ emulatedVersion: "other=1.36" }, "component not registered: other"],
  [{ emulatedVersion: "1.36,kube=1.35" }, "duplicate version flag, kube=1.36 and kube=1.35"],
  [{ minCompatibilityVersion: "1.37" }, "minCompatibilityVersion version 1.37 is not between [1.33, 1.36]"],
  [
    { emulatedVersion: "1.34", minCompatibilityVersion: "1.35" },
    "minCompatibilityVersion version 1.35 is not between [1.33, 1.34]",
  ],
  [{ minCompatibilityVersion: "1.32" }, "minCompatibilityVersion version 1.32 is not between [1.33, 1.36]"],
  [{ emulationForwardCompatible: true }, `ServerRunOptions.EmulationForwardCompatible ${forward}`],
  [
    { emulatedVersion: "1.36", runtimeConfigEmulationForwardCompatible: true },
    `ServerRunOptions.RuntimeConfigEmulationForwardCompatible ${forward}`,
  ],
];
for (const [options, message] of errors) {
  test(`rejects ${JSON.stringify(options)}`, () => assert.throws(() => parse(options), { message }));
}
