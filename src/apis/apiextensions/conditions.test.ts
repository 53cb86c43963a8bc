import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type Condition, findCondition, setCondition } from "./condition-list.ts";
import { acceptNames, approvalCondition, establish, heldNames, nonStructural, type UsedNames } from "./conditions.ts";
import type { DefinitionNames } from "./definition.ts";

const names = (plural: string, kind: string, more: DefinitionNames = {}): DefinitionNames => ({
  plural,
  singular: kind.toLowerCase(),
  kind,
  listKind: `${kind}List`,
  ...more,
});

function definition(desired: DefinitionNames, accepted?: DefinitionNames, conditions: Condition[] = []): KubeObject {
  const status = { ...(accepted !== undefined && { acceptedNames: accepted }), conditions };
  return {
    metadata: { name: `${desired.plural}.example.com` },
    spec: { group: "example.com", names: desired },
    status,
  };
}

const widgets = names("widgets", "Widget", { shortNames: ["w", "wd"], categories: ["all"] });
const free = names("gadgets", "Gadget", { shortNames: ["g"] });

const nameRows: [
  what: string,
  desired: DefinitionNames,
  accepted: DefinitionNames | undefined,
  reason: string,
  message: string,
  expected: DefinitionNames,
][] = [
  ["free names", free, undefined, "NoConflicts", "no conflicts found", free],
  ["names that the definition has already", widgets, widgets, "NoConflicts", "no conflicts found", widgets],
  [
    "plural",
    names("widgets", "Gadget"),
    undefined,
    "PluralConflict",
    '"widgets" is already in use',
    { singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
  ],
  [
    "plural that is a short name",
    names("w", "Gadget"),
    undefined,
    "PluralConflict",
    '"w" is already in use',
    { singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
  ],
  [
    "all names, of which the list kind is reported",
    names("widgets", "Widget"),
    undefined,
    "ListKindConflict",
    '"WidgetList" is already in use',
    {},
  ],
  [
    "short names",
    { ...free, shortNames: ["g", "w", "wd"] },
    undefined,
    "ShortNamesConflict",
    '["w" is already in use, "wd" is already in use]',
    { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
  ],
  [
    "what it has it keeps",
    names("gadgets", "Widget"),
    free,
    "ListKindConflict",
    '"WidgetList" is already in use',
    names("gadgets", "Gadget"),
  ],
];

function usedNames(definitions: readonly KubeObject[]): UsedNames {
  const held = definitions.map(heldNames);
  return {
    resources: new Set(held.flatMap(({ resources }) => resources)),
    kinds: new Set(held.flatMap(({ kinds }) => kinds)),
  };
}

for (const [what, desired, accepted, reason, message, expected] of nameRows) {
  test(`names: ${what}`, () => {
    const used = usedNames([definition(widgets, widgets), definition(desired, accepted)]);
    const own = desired === widgets ? definition(widgets, widgets) : definition(desired, accepted);
    const { acceptedNames, conditions } = acceptNames(own, used);
    assert.deepEqual([conditions[0].reason, conditions[0].message], [reason, message]);
    assert.deepEqual(acceptedNames, expected);
    assert.equal(conditions[1].reason, reason === "NoConflicts" ? "Installing" : "NotAccepted");
  });
}

test("keeps a definition established when its new names conflict", () => {
  const before: Condition = {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  };
  const used = usedNames([definition(widgets, widgets)]);
  const { conditions } = acceptNames(definition(names("gadgets", "Widget"), free, [before]), used);
  assert.deepEqual([conditions[0].status, conditions[1]], ["False", before]);
});

test("does not establish a definition with an invalid CA bundle of its webhook", () => {
  const conversion = (caBundle: string) => ({
    metadata: {},
    spec: { conversion: { strategy: "Webhook", webhook: { clientConfig: { url: "https://x", caBundle } } } },
  });
  assert.equal(establish(conversion("AAAA")).reason, "InvalidCABundle");
  assert.equal(establish(conversion("")).status, "True");
});

test("changes the transition time when the status changes", () => {
  const object = definition(free);
  const accepted = acceptNames(object, usedNames([])).conditions[0];
  assert.equal(setCondition(object, accepted, 0), true);
  assert.equal(setCondition(object, accepted, 5000), false);
  assert.equal(setCondition(object, { ...accepted, message: "other" }, 5000), true);
  assert.equal(
    (findCondition(object, "NamesAccepted") as { lastTransitionTime?: string }).lastTransitionTime,
    "1970-01-01T00:00:00Z",
  );
  setCondition(object, { ...accepted, status: "False" }, 5000);
  assert.equal(
    (findCondition(object, "NamesAccepted") as { lastTransitionTime?: string }).lastTransitionTime,
    "1970-01-01T00:00:05Z",
  );
});

test("reports schemas that are not structural", () => {
  const schema = (openAPIV3Schema: object) => ({
    metadata: {},
    spec: { versions: [{ name: "v1", schema: { openAPIV3Schema } }] },
  });
  assert.equal(nonStructural(schema({ type: "object" })), undefined);
  const path = "spec.versions[0].schema.openAPIV3Schema";
  assert.equal(
    nonStructural(schema({ type: "object", properties: { a: {} } }))?.message,
    `${path}.properties[a].type: Required value: must not be empty for specified object fields`,
  );
  assert.deepEqual(nonStructural(schema({ type: "object", $ref: "#/x" })), {
    type: "NonStructuralSchema",
    status: "Unknown",
    reason: "StructuralError",
    message: "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
  });
  assert.equal(
    nonStructural({ metadata: {}, spec: { preserveUnknownFields: true } })?.message,
    "spec.preserveUnknownFields: Invalid value: true: must be false",
  );
});

const approvalRows: [group: string, annotation: string, reason: string | undefined][] = [
  ["example.com", "", undefined],
  ["x.k8s.io", "", "MissingAnnotation"],
  ["x.k8s.io", "unapproved, a test", "UnapprovedAnnotation"],
  ["x.k8s.io", "nonsense", "InvalidAnnotation"],
  ["x.kubernetes.io", "https://github.com/kubernetes/kubernetes/pull/1", "ApprovedAnnotation"],
];

for (const [group, annotation, reason] of approvalRows) {
  test(`approval of ${group} with ${annotation}`, () => {
    const annotations = { "api-approved.kubernetes.io": annotation };
    assert.equal(approvalCondition({ metadata: { annotations }, spec: { group } })?.reason, reason);
  });
}
