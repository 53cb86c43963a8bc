import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditAttributes } from "./policy.ts";
import { policyEvaluator } from "./policy.ts";
import { parseAuditPolicy } from "./policy-file.ts";

const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

function attributesOf(changes: Partial<AuditAttributes>): AuditAttributes {
  const user = { name: "ann", uid: "", groups: ["dev", "ops"], extra: new Map() };
  const place = {
    isResourceRequest: true,
    path: "/x",
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "",
    namespace: "one",
    name: "a",
  };
  return { user, verb: "get", ...place, fieldSelector: "", labelSelector: "", ...changes };
}

const path = (path: string): Partial<AuditAttributes> => ({
  isResourceRequest: false,
  path,
  resource: "",
  namespace: "",
  name: "",
});

const rows: [what: string, rule: string, request: Partial<AuditAttributes>, matches: boolean][] = [
  ["no conditions", "{}", {}, true],
  ["no conditions, for a path", "{}", path("/version"), true],
  ["user", "{users: [bob, ann]}", {}, true],
  ["another user", "{users: [bob]}", {}, false],
  ["a user, for a request without a user", "{users: [ann]}", { user: undefined }, false],
  ["one of the groups", "{userGroups: [ops]}", {}, true],
  ["none of the groups", "{userGroups: [adm]}", {}, false],
  ["a group, for a request without a user", "{userGroups: [ops]}", { user: undefined }, false],
  ["no conditions, for a request without a user", "{}", { user: undefined }, true],
  ["verb", "{verbs: [list, get]}", {}, true],
  ["another verb", "{verbs: [list]}", {}, false],
  ["namespace", "{namespaces: [one]}", {}, true],
  ["another namespace", "{namespaces: [two]}", {}, false],
  ["cluster-scoped resources", '{namespaces: [""]}', { namespace: "" }, true],
  ["a namespace, for a path", '{namespaces: [""]}', path("/version"), false],
  ["resource", '{resources: [{group: "", resources: [pods]}]}', {}, true],
  ["another group", "{resources: [{group: apps, resources: [pods]}]}", {}, false],
  ["every group", '{resources: [{group: "*", resources: [pods]}]}', { group: "apps" }, true],
  ["all of a group", '{resources: [{group: ""}]}', { subresource: "log" }, true],
  ["resource, for a subresource", '{resources: [{group: "", resources: [pods]}]}', { subresource: "log" }, false],
  ["subresource", '{resources: [{group: "", resources: [pods/log]}]}', { subresource: "log" }, true],
  ["subresource, for the resource", '{resources: [{group: "", resources: [pods/log]}]}', {}, false],
  ["every subresource", '{resources: [{group: "", resources: ["pods/*"]}]}', { subresource: "log" }, true],
  ["every subresource, for the resource", '{resources: [{group: "", resources: ["pods/*"]}]}', {}, true],
  ["a subresource of every resource", '{resources: [{group: "", resources: ["*/log"]}]}', { subresource: "log" }, true],
  ["a subresource of every resource, for a resource", '{resources: [{group: "", resources: ["*/log"]}]}', {}, false],
  ["everything", '{resources: [{group: "", resources: ["*"]}]}', { subresource: "log" }, true],
  ["name", '{resources: [{group: "", resources: [pods], resourceNames: [a]}]}', {}, true],
  ["another name", '{resources: [{group: "", resources: [pods], resourceNames: [b]}]}', {}, false],
  ["a resource, for a path", '{resources: [{group: "*"}]}', path("/version"), false],
  ["path", "{nonResourceURLs: [/version]}", path("/version"), true],
  ["another path", "{nonResourceURLs: [/version]}", path("/version/"), false],
  ["path with a wildcard", '{nonResourceURLs: ["/healthz*"]}', path("/healthz/etcd"), true],
  ["every path", '{nonResourceURLs: ["*"]}', path("/x"), true],
  ["a path, for a resource", '{nonResourceURLs: ["*"]}', {}, false],
  ["one of two conditions", "{users: [ann], verbs: [list]}", {}, false],
];
for (const [what, rule, request, matches] of rows) {
  test(`rule: ${what}`, () => {
    const policy = parseAuditPolicy(
      Buffer.from(`${head}rules:\n- ${rule.replace("{", "{level: Metadata, ").replace(", }", "}")}\n`),
      "p",
      assert.fail,
    );
    assert.equal(policyEvaluator(policy)(attributesOf(request)).level, matches ? "Metadata" : "None");
  });
}

test("applies the first matching rule; merges omitStages; omitManagedFields of the rule overrides the policy", () => {
  const text = `${head}omitStages: [Panic]
omitManagedFields: true
rules:
- {level: Request, users: [bob]}
- {level: RequestResponse, users: [ann], omitStages: [RequestReceived], omitManagedFields: false}
- {level: Metadata}
`;
  const evaluate = policyEvaluator(parseAuditPolicy(Buffer.from(text), "p", assert.fail));
  assert.deepEqual(evaluate(attributesOf({})), {
    level: "RequestResponse",
    omitStages: new Set(["Panic", "RequestReceived"]),
    omitManagedFields: false,
  });
  assert.deepEqual(evaluate(attributesOf({ user: undefined })), {
    level: "Metadata",
    omitStages: new Set(["Panic"]),
    omitManagedFields: true,
  });
});

const bad = `nonResourceURLs: [x, "/a*b", /c], resources: [{group: "a/b", resourceNames: [one]}]`;
const stages = "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic";
/** The messages of upstream's LoadPolicyFromBytes, except the name of its scheme. */
const fileRows: [what: string, text: string, want: string][] = [
  ["no rules", head, "loaded illegal policy with 0 rules"],
  ["no level", `${head}rules: [{}]`, "rules[0].level: Required value"],
  [
    "an unknown level",
    `${head}rules: [{level: All}]`,
    'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
  ],
  [
    "several problems",
    `${head}omitStages: [Done]\nrules: [{level: None, ${bad}}]`,
    `[omitStages[0]: Invalid value: "Done": ${stages}, rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule, rules[0].resources.group: Invalid value: "a/b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), rules[0].resources.resourceNames: Invalid value: ["one"]: using resourceNames requires at least one resource, rules[0].nonResourceURLs: Invalid value: ["x","/a*b","/c"]: rules cannot apply to both regular resources and non-resource URLs]`,
  ],
  [
    "a removed version",
    "apiVersion: audit.k8s.io/v1beta1\nkind: Policy",
    'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1"',
  ],
  ["no version", "kind: Policy", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"],
  ["an empty file", "", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"],
  ["no kind, which is valid, and no rules", "apiVersion: audit.k8s.io/v1", "loaded illegal policy with 0 rules"],
  [
    "a string instead of a list",
    `${head}rules: [{level: None, users: ann}]`,
    "failed decoding: json: cannot unmarshal string into Go struct field PolicyRule.rules.users of type []string",
  ],
  [
    "a string that YAML decodes as a boolean",
    `${head}rules: [{level: None, resources: [{resources: [a], resourceNames: [n]}]}]`,
    "failed decoding: json: cannot unmarshal bool into Go struct field GroupResources.rules.resources.resourceNames of type string",
  ],
  [
    "a number instead of rules",
    `${head}rules: 3`,
    "failed decoding: json: cannot unmarshal number into Go struct field Policy.rules of type []v1.PolicyRule",
  ],
  [
    "not an object",
    "- a",
    String.raw`failed decoding: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
  ],
  ["invalid YAML", "a: [", "failed decoding: yaml: line 1: did not find expected node content"],
];
for (const [what, text, want] of fileRows) {
  test(`policy file: ${what}`, () => {
    assert.throws(() => parseAuditPolicy(Buffer.from(text), "/p.yaml", assert.fail), {
      message: `loading audit policy file: ${want}: from file /p.yaml`,
    });
  });
}

test("policy file: ignores unknown and duplicate fields with a warning", () => {
  const warnings: string[] = [];
  const text = `${head}mood: good\nrules:\n- level: None\n  level: Metadata\n  user: [ann]\n  resources: [{__proto__: x}]\n`;
  const { rules } = parseAuditPolicy(Buffer.from(text), "p", (message) => warnings.push(message));
  assert.equal(rules[0]?.level, "Metadata");
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] as string,
    /unknown field "mood", unknown field "rules\[0\]\.resources\[0\]\.__proto__", unknown field "rules\[0\]\.user"$/,
  );
  assert.match(warnings[0] as string, /key "level" already set in map/);
});
