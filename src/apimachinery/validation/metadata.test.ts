import assert from "node:assert/strict";
import { test } from "node:test";
import {
  configMapKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  pathSegmentNameProblems,
  qualifiedNameProblems,
} from "../../lib/names/names.ts";
import { FieldErrors } from "../field-errors.ts";
import type { ObjectMeta } from "../object.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "./metadata.ts";

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const nameRows: [
  what: string,
  rule: (text: string, prefix?: boolean) => string[],
  text: string,
  prefix: boolean,
  want: string[],
][] = [
  ["subdomain", dnsSubdomainProblems, "a.b-c", false, []],
  ["subdomain: upper case", dnsSubdomainProblems, "Upper", false, [subdomain]],
  ["subdomain: a prefix may end in a dash", dnsSubdomainProblems, "gen-", true, []],
  ["subdomain: a name may not", dnsSubdomainProblems, "gen-", false, [subdomain]],
  ["subdomain: too long", dnsSubdomainProblems, "x".repeat(254), false, ["must be no more than 253 characters"]],
  ["label: dots", dnsLabelProblems, "a.b", false, ["must not contain dots"]],
  [
    "path segment: slash and percent",
    pathSegmentNameProblems,
    "a/%",
    false,
    ["may not contain '/'", "may not contain '%'"],
  ],
  ["path segment: colons are fine", pathSegmentNameProblems, "system:admin", false, []],
  ["path segment: the parent", pathSegmentNameProblems, "..", false, ["may not be '..'"]],
  ["qualified: no prefix", qualifiedNameProblems, "/x", false, ["prefix part must be non-empty"]],
  ["qualified: upper-case prefix", qualifiedNameProblems, "UP.com/x", false, [`prefix part ${subdomain}`]],
  ["qualified: empty", qualifiedNameProblems, "", false, ["name part must be non-empty", namePart]],
  ["config key: parent", configMapKeyProblems, "..", false, ["must not be '..'"]],
  ["config key: below the parent", configMapKeyProblems, "..a", false, ["must not start with '..'"]],
];

for (const [what, rule, text, prefix, want] of nameRows) {
  test(`names: ${what}`, () => assert.deepEqual(rule(text, prefix), want));
}

const good: ObjectMeta = { name: "x", namespace: "ns" };
const owner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "u" };

/** `meta` is added to valid metadata; `want` is the expected fields and messages. */
const createRows: [what: string, meta: ObjectMeta, want: [field: string, message: string][]][] = [
  [
    "valid metadata",
    { labels: { a: "b", "example.com/c": "" }, annotations: { "A.B/c": "" }, finalizers: ["a.com/x", "a.com/x"] },
    [],
  ],
  ["an empty name", { name: "" }, [["metadata.name", "Required value: name or generateName is required"]]],
  ["an invalid label key", { labels: { "a b": "c" } }, [["metadata.labels", `Invalid value: "a b": ${namePart}`]]],
  [
    "annotations over the limit",
    { annotations: { a: "x".repeat(262144) } },
    [["metadata.annotations", "Too long: may not be more than 262144 bytes"]],
  ],
  [
    "a finalizer without a domain",
    { finalizers: ["nodomain"] },
    [
      [
        "metadata.finalizers[0]",
        'Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
  ],
  [
    "both finalizers of the garbage collector",
    { finalizers: ["orphan", "foregroundDeletion"] },
    [
      [
        "metadata.finalizers",
        'Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
  ],
  [
    "an empty owner reference",
    { ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
    [
      ["metadata.ownerReferences.apiVersion", 'Invalid value: "": version must not be empty'],
      ["metadata.ownerReferences.kind", 'Invalid value: "": must not be empty'],
      ["metadata.ownerReferences.name", 'Invalid value: "": must not be empty'],
      ["metadata.ownerReferences.uid", 'Invalid value: "": must not be empty'],
    ],
  ],
  [
    "an Event as owner",
    { ownerReferences: [{ uid: "u", name: "a", kind: "Event", apiVersion: "v1" }] },
    [
      [
        "metadata.ownerReferences",
        'Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ],
  [
    "two controllers",
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: "b", uid: "v", controller: true },
      ],
    },
    [
      [
        "metadata.ownerReferences",
        'Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"b","uid":"v","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b',
      ],
    ],
  ],
  [
    "an invalid operation",
    { managedFields: [{ manager: "x" }] },
    [["metadata.managedFields[0].operation", 'Invalid value: "": must be `Apply` or `Update`']],
  ],
];

for (const [what, meta, want] of createRows) {
  test(`metadata on create: ${what}`, () => {
    const errors = new FieldErrors();
    validateObjectMeta({ ...good, ...meta }, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    assert.deepEqual(
      errors.causes.map(({ field, message }) => [field, message]),
      want,
    );
  });
}

const stored: ObjectMeta = {
  ...good,
  uid: "1",
  resourceVersion: "5",
  creationTimestamp: "2020-01-01T00:00:00Z",
  generation: 2,
};

const updateRows: [what: string, next: ObjectMeta, old: ObjectMeta, want: [field: string, message: string][]][] = [
  ["no changes", {}, {}, []],
  [
    "an invalid label gives three causes",
    { labels: { "": "" } },
    {},
    Array(3)
      .fill([
        ["metadata.labels", 'Invalid value: "": name part must be non-empty'],
        ["metadata.labels", `Invalid value: "": ${namePart}`],
      ])
      .flat(),
  ],
  [
    "a changed uid gives two causes",
    { uid: "2" },
    {},
    Array(2).fill(["metadata.uid", 'Invalid value: "2": field is immutable']),
  ],
  [
    "a new finalizer of an object that is being deleted",
    { finalizers: ["a/b", "a/c"], deletionTimestamp: "2020-01-01T00:00:00Z" },
    { finalizers: ["a/b"], deletionTimestamp: "2020-01-01T00:00:00Z" },
    Array(2).fill([
      "metadata.finalizers",
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c"}',
    ]),
  ],
];

for (const [what, next, old, want] of updateRows) {
  test(`metadata on update: ${what}`, () => {
    const errors = new FieldErrors();
    validateObjectMetaUpdate({ ...stored, ...next }, { ...stored, ...old }, errors);
    assert.deepEqual(
      errors.causes.map(({ field, message }) => [field, message]),
      want,
    );
  });
}
