import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFeatureGates } from "../apimachinery/feature-gates.ts";
import { builtinVersions } from "./builtin-definitions.ts";
import { emulatedResources } from "./emulated-resources.ts";
import { withoutGatedResources } from "./gated-resources.ts";
import { type ParsedRuntimeConfig, parseRuntimeConfig } from "./runtime-config.ts";

const builtin = builtinVersions();

interface Emulated {
  readonly at: number;
  readonly config?: string;
  readonly gates?: string;
  /** `--emulation-forward-compatible` */
  readonly forward?: boolean;
  /** `--runtime-config-emulation-forward-compatible` */
  readonly configForward?: boolean;
}

function served({ at, config = "", gates: text = "", forward = false, configForward = false }: Emulated) {
  const { gates } = parseFeatureGates(text, { emulated: at, minCompatible: Math.max(33, at - 1) });
  const enabled = withoutGatedResources(parseRuntimeConfig(config, builtin, { forward }), builtin, gates);
  return emulatedResources(enabled, builtin, {
    emulated: at,
    emulationForwardCompatible: forward,
    runtimeConfigEmulationForwardCompatible: configForward,
  });
}

const slices = "resource.k8s.io/v1/resourceslices";
const classes = "storage.k8s.io/v1/volumeattributesclasses";
const policies = "admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const rows: [Emulated, resource: string, isServed: boolean][] = [
  [{ at: 36 }, slices, true],
  [{ at: 34 }, slices, true],
  [{ at: 33 }, slices, false],
  [{ at: 33 }, classes, false],
  [{ at: 35 }, policies, false],
  [{ at: 36 }, policies, true],
  [{ at: 33 }, "apps/v1/deployments", true],
  [{ at: 33, config: "resource.k8s.io/v1beta2=true" }, "resource.k8s.io/v1beta2/resourceslices", true],
  [{ at: 33, config: "resource.k8s.io/v1beta2=true" }, slices, false],
  // Later versions of a resource of which a beta is served.
  [{ at: 33, config: "resource.k8s.io/v1beta1=true", forward: true }, slices, true],
  [{ at: 33, config: "resource.k8s.io/v1beta1=true", forward: true }, "resource.k8s.io/v1beta2/resourceslices", true],
  [{ at: 33, config: "resource.k8s.io/v1beta1/resourceslices=true", forward: true }, slices, true],
  [
    { at: 33, config: "resource.k8s.io/v1beta1/resourceslices=true", forward: true },
    "resource.k8s.io/v1/resourceclaims",
    false,
  ],
  [{ at: 33, config: "resource.k8s.io/v1beta1=true,resource.k8s.io/v1=false", forward: true }, slices, false],
  [{ at: 33, forward: true }, slices, false],
  [{ at: 33, config: "admissionregistration.k8s.io/v1alpha1=true", forward: true }, policies, false],
  // What the configuration names.
  [{ at: 33, config: "resource.k8s.io/v1=true", configForward: true }, slices, true],
  [{ at: 33, config: `${slices}=true`, configForward: true }, slices, true],
  [{ at: 33, config: `${slices}=true`, configForward: true }, "resource.k8s.io/v1/resourceclaims", false],
  // The stable resources of the version are served without it.
  [{ at: 33, config: "storage.k8s.io/v1=true" }, classes, false],
  [{ at: 33, config: "storage.k8s.io/v1=true", configForward: true }, classes, true],
];
for (const [emulated, resource, isServed] of rows) {
  test(`${JSON.stringify(emulated)}: ${resource} is ${isServed ? "" : "not "}served`, () => {
    const [group = "", version = "", name = ""] = resource.split("/");
    assert.equal(served(emulated).serves(group, version, name), isServed);
  });
}

const hint = "Consider setting --runtime-config-emulation-forward-compatible=true";
const errors: [Emulated, message: string][] = [
  [
    { at: 33, config: "resource.k8s.io/v1=true" },
    `cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the current version 1.33. ${hint}`,
  ],
  [
    { at: 33, config: `${slices}=true` },
    `cannot enable resource resource.k8s.io/v1, Resource=resourceslices in runtime-config because it is introduced at 1.34 after the current version 1.33. ${hint}`,
  ],
  [
    { at: 34, config: "storagemigration.k8s.io/v1beta1=true", gates: "StorageVersionMigrator=true" },
    `cannot enable version storagemigration.k8s.io/v1beta1 in runtime-config because all the resources have been introduced after the current version 1.34. ${hint}`,
  ],
];
for (const [emulated, message] of errors) {
  test(`${JSON.stringify(emulated)} is rejected`, () => assert.throws(() => served(emulated), { message }));
}

test("a version whose gate is off is no error, as it has no resources", () => {
  const { warnings }: ParsedRuntimeConfig = served({ at: 34, config: "storagemigration.k8s.io/v1beta1=true" });
  assert.equal(warnings.length, 1);
});

test("warns of alpha versions at an emulated version", () => {
  assert.deepEqual(served({ at: 35, config: "coordination.k8s.io/v1alpha2=true" }).warnings, [
    "alpha api enabled with emulated version 1.35 instead of the binary's version 1.36.0, this is unsupported, proceed at your own risk: api=coordination.k8s.io/v1alpha2",
  ]);
  assert.deepEqual(served({ at: 36, config: "coordination.k8s.io/v1alpha2=true" }).warnings, []);
});
