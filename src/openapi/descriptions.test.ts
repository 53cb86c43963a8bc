import assert from "node:assert/strict";
import { test } from "node:test";
import { descriptionsFrom, noDescriptions } from "./descriptions.ts";
import { readInstalledDescriptions } from "./installed-descriptions.ts";

const descriptions = descriptionsFrom(await readInstalledDescriptions());

const rows: [what: string, text: string | undefined, start: string][] = [
  ["a type", descriptions.type("io.k8s.api.core.v1.ConfigMap"), "ConfigMap holds configuration data"],
  [
    "a type of another group with the same kind",
    descriptions.type("io.k8s.api.events.v1.Event"),
    "Event is a report of an event",
  ],
  ["a field", descriptions.field("io.k8s.api.core.v1.ConfigMap", "immutable"), "Immutable, if set to true"],
  [
    "a field whose name the client changes",
    descriptions.field(schemaProps(), "x-kubernetes-list-type"),
    "x-kubernetes-list-type annotates",
  ],
  ["a field whose name is a reserved word", descriptions.field(schemaProps(), "default"), "default is a default value"],
  [
    "a field that refers to a type, with paragraphs",
    descriptions.field("io.k8s.api.resource.v1.DeviceRequest", "exactly")?.split("\n\n")[1],
    "One of Exactly or FirstAvailable must be set.",
  ],
  [
    "a field of a beta type, from v1",
    descriptions.field("io.k8s.api.resource.v1beta2.ResourceClaim", "status"),
    "Status describes whether the claim is ready",
  ],
  [
    "metadata",
    descriptions.field("io.k8s.api.core.v1.ConfigMap", "metadata"),
    "Standard object's metadata. More info: https://git.k8s.io/",
  ],
  [
    "metadata of a list",
    descriptions.field("io.k8s.apimachinery.pkg.apis.meta.v1.Status", "metadata"),
    "Standard list metadata. More info: https://git.k8s.io/",
  ],
  ["a type that is a string", descriptions.type("io.k8s.apimachinery.pkg.apis.meta.v1.Time"), "Time is a wrapper"],
  [
    "a field with asterisks",
    descriptions.field("io.k8s.api.authorization.v1.ResourceRule", "resources")?.split("\n")[1]?.trim(),
    '"*/foo" represents the subresource',
  ],
  ["a parameter", descriptions.parameter("list", "continue"), "The continue option should be set"],
  ["a parameter of a connection", descriptions.parameter("PodExec", "command"), "Command is the remote command"],
  [
    "a common parameter, with paragraphs",
    descriptions.parameter("list", "resourceVersion")?.split("\n\n")[1],
    "Defaults to unset",
  ],
  [
    "a common parameter, with a list",
    descriptions.parameter("list", "sendInitialEvents")?.replace(/^.*(?= following:)/s, ""),
    " following: - `resourceVersionMatch` = NotOlderThan\n  is interpreted as",
  ],
  [
    "a common parameter, after a list",
    descriptions.parameter("list", "sendInitialEvents")?.split("\n").slice(9).join("\n"),
    "- `resourceVersionMatch` set to any other value or unset\n  Invalid error is returned.\n\nDefaults to true",
  ],
  [
    "a common parameter, with two blanks in a sentence",
    /synthetic "Bookmark".{16}/s.exec(descriptions.parameter("list", "sendInitialEvents") ?? "")?.[0],
    'synthetic "Bookmark" event  will be ',
  ],
  [
    "a common parameter, with indented lines",
    descriptions.parameter("list", "shardSelector")?.replace(/^.*ranges:/s, ""),
    "\n\n  shardRange(object.metadata.uid, '0x0', '0x8000000000000000')\n  shardRange(object.metadata.uid, '0x0',",
  ],
  [
    "a common parameter, with lists of two levels",
    descriptions.parameter("list", "shardSelector")?.replace(/^.*2\^64\./s, ""),
    "\n\nExamples:\n  2-shard split:\n    shard 0: shardRange(",
  ],
  [
    "a field of a type without one",
    descriptions.field(matchCondition(), "expression"),
    "expression represents the expression",
  ],
  [
    "a parameter with quotes",
    descriptions.parameter("list", "pretty"),
    "If 'true', then the output is pretty printed.",
  ],
];
function schemaProps(): string {
  return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
}
for (const [what, text, start] of rows)
  test(`finds the text of ${what}`, () => assert.equal(text?.slice(0, start.length), start));

function matchCondition(): string {
  return "io.k8s.api.admissionregistration.v1alpha1.MatchCondition";
}

test("finds no text of unknown names", () => {
  assert.equal(descriptions.type(matchCondition()), undefined);
  assert.equal(descriptions.type("constructor"), undefined);
  assert.equal(descriptions.field("io.k8s.api.core.v1.ConfigMap", "constructor"), undefined);
  assert.equal(descriptions.parameter("constructor", "name"), undefined);
  assert.equal(noDescriptions.type("io.k8s.api.core.v1.ConfigMap"), undefined);
});
