/**
 * Requests about definitions and their objects. Upstream's answers are in testdata/answers.json, in
 * the order of the scenarios.
 */
import { styles } from "./styles.ts";

export interface Step {
  readonly method?: string;
  readonly path: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request is repeated until the answer matches, because controllers act later. */
  readonly until?: RegExp;
  /** The path of the member to compare, if the whole answer is long. */
  readonly show?: readonly string[];
}

export interface Scenario {
  readonly title: string;
  readonly steps: readonly Step[];
}

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const merge = { "content-type": "application/merge-patch+json" };
const jsonPatch = { "content-type": "application/json-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };

interface Kind {
  readonly plural: string;
  readonly kind: string;
  readonly group?: string;
  readonly names?: object;
  readonly scope?: string;
  readonly version?: object;
  readonly versions?: readonly object[];
  readonly spec?: object;
  readonly annotations?: object;
}

/** @param properties the properties of the schema's root */
function definition(
  { plural, kind, group = "example.com", names, scope = "Namespaced", version, versions, spec, annotations }: Kind,
  properties: object = {},
) {
  const schema = { openAPIV3Schema: { type: "object", properties } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...(annotations !== undefined && { annotations }) },
    spec: {
      group,
      scope,
      names: { plural, kind, ...names },
      versions: versions ?? [{ name: "v1", served: true, storage: true, schema, ...version }],
      ...spec,
    },
  };
}

const make = (made: { metadata: { name: string } }): Step[] => [
  { method: "POST", path: definitions, body: made, show: ["status"] },
  {
    path: `${definitions}/${made.metadata.name}`,
    until: /"type":"Established","status":"True"/,
    show: ["status", "acceptedNames"],
  },
];

/** The steps that create a definition, and requests to its objects in the namespace `default`. */
function kindOf(kind: Kind, properties: object) {
  const group = kind.group ?? "example.com";
  const at = (version: string): string =>
    `/apis/${group}/${version}/${kind.scope === "Cluster" ? "" : "namespaces/default/"}${kind.plural}`;
  const body = (name: string, rest: object, version = "v1") => ({
    apiVersion: `${group}/${version}`,
    kind: kind.kind,
    metadata: { name },
    ...rest,
  });
  return {
    steps: make(definition(kind, properties)),
    create: (name: string, rest: object, query = "", version = "v1"): Step => ({
      method: "POST",
      path: at(version) + query,
      body: body(name, rest, version),
    }),
    get: (name: string, version = "v1"): Step => ({ path: `${at(version)}/${name}` }),
    merge: (name: string, patch: object, below = ""): Step => ({
      method: "PATCH",
      path: `${at("v1")}/${name}${below}`,
      body: patch,
      headers: merge,
    }),
    apply: (name: string, manager: string, rest: object, query = ""): Step => ({
      method: "PATCH",
      path: `${at("v1")}/${name}?fieldManager=${manager}${query}`,
      body: body(name, rest),
      headers: apply,
    }),
    at,
    body,
  };
}

const text = { type: "string" };
const integer = { type: "integer" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const list = (items: object, more: object = {}) => ({ type: "array", items, ...more });

const typed = kindOf(
  { plural: "typeds", kind: "Typed" },
  {
    spec: object(
      {
        text: { ...text, minLength: 2, maxLength: 4, pattern: "^[a-z]*$" },
        choice: { ...text, enum: ["a", "b"] },
        count: { ...integer, minimum: 1, maximum: 5 },
        open: { ...integer, minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
        half: { type: "number", multipleOf: 0.5 },
        small: { ...integer, format: "int32" },
        flag: { type: "boolean" },
        when: { ...text, format: "date-time" },
        mail: { ...text, format: "email" },
        address: { ...text, format: "ipv4" },
        either: { "x-kubernetes-int-or-string": true },
        maybe: { ...text, nullable: true },
        items: list(text, { minItems: 1, maxItems: 2 }),
        named: list(object({ name: text, value: integer }, { required: ["name"] }), {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        }),
        set: list(text, { "x-kubernetes-list-type": "set" }),
        map: { type: "object", additionalProperties: integer, minProperties: 1, maxProperties: 2 },
        open2: object({ known: integer }, { "x-kubernetes-preserve-unknown-fields": true }),
        inner: object({ a: text, b: text }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
        none: object({ a: text, b: text }, { not: { required: ["a", "b"] } }),
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
      { required: ["text"] },
    ),
  },
);

const wrongValues: readonly object[] = [
  {},
  { text: 1 },
  { text: "a" },
  { text: "abcde" },
  { text: "AB" },
  { text: null },
  { text: "ok", choice: "c" },
  { text: "ok", count: 0 },
  { text: "ok", count: 6 },
  { text: "ok", count: 1.5 },
  { text: "ok", count: "1" },
  { text: "ok", open: 0 },
  { text: "ok", open: 10 },
  { text: "ok", half: 0.3 },
  { text: "ok", small: 2 ** 40 },
  { text: "ok", flag: "true" },
  { text: "ok", when: "yesterday" },
  { text: "ok", mail: "nobody" },
  { text: "ok", address: "::1" },
  { text: "ok", either: true },
  { text: "ok", either: 1.5 },
  { text: "ok", maybe: null, count: null },
  { text: "ok", items: [] },
  { text: "ok", items: ["a", "b", "c"] },
  { text: "ok", items: ["a", 1] },
  { text: "ok", items: "a" },
  { text: "ok", named: [{ name: "a" }, { name: "a" }] },
  { text: "ok", named: [{ value: 1 }] },
  { text: "ok", set: ["a", "a"] },
  { text: "ok", map: {} },
  { text: "ok", map: { a: 1, b: 2, c: 3 } },
  { text: "ok", map: { a: "1" } },
  { text: "ok", open2: { known: "x", other: { deep: [1] } } },
  { text: "ok", inner: {} },
  { text: "ok", inner: { a: "1", b: "2" } },
  { text: "ok", none: { a: "1", b: "2" } },
  { text: "ok", embedded: {} },
  { text: "ok", embedded: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a b", labels: { "a b": "c" } } } },
  { text: "ok", embedded: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: 1 } } },
  { text: "ok", embedded: { apiVersion: "", kind: "x y" } },
  { text: 1, choice: "c", count: 9, items: [] },
];

const ruled = kindOf(
  { plural: "ruleds", kind: "Ruled" },
  {
    spec: object(
      {
        low: { ...integer, maximum: 1000 },
        high: { ...integer, maximum: 1000 },
        name: {
          ...text,
          maxLength: 20,
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "name is immutable" }],
        },
        once: {
          ...text,
          maxLength: 20,
          "x-kubernetes-validations": [
            { rule: "!oldSelf.hasValue() || self == oldSelf.value()", optionalOldSelf: true, message: "once only" },
          ],
        },
        items: list(
          {
            ...text,
            maxLength: 10,
            "x-kubernetes-validations": [{ rule: "self != 'bad'", reason: "FieldValueForbidden" }],
          },
          { maxItems: 5 },
        ),
        gate: { ...text, maxLength: 10 },
      },
      {
        "x-kubernetes-validations": [
          {
            rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
            message: "low must not exceed high",
            fieldPath: ".low",
          },
          {
            rule: "!has(self.high) || self.high < 100",
            messageExpression: "'high is ' + (self.high > 150 ? 'far ' : '') + 'above 100'",
            reason: "FieldValueInvalid",
          },
          { rule: "!has(self.gate) || self.gate != 'shut'", reason: "FieldValueRequired", fieldPath: ".gate" },
          { rule: "!has(self.gate) || self.gate != 'twice'", reason: "FieldValueDuplicate", message: "seen" },
          { rule: "!has(self.gate) || self.gate != 'fails' || 1 / self.low > 0" },
          {
            rule: "!has(self.gate) || self.gate != 'worse'",
            messageExpression: "1 / (self.low - self.low) > 0 ? 'a' : 'b'",
            message: "instead",
          },
        ],
      },
    ),
  },
);

const shaped = kindOf(
  {
    plural: "shapeds",
    kind: "Shaped",
    names: { shortNames: ["shp"], categories: ["all", "shapes"] },
    version: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.size",
          statusReplicasPath: ".status.size",
          labelSelectorPath: ".status.selector",
        },
      },
      selectableFields: [{ jsonPath: ".spec.colour" }, { jsonPath: ".spec.size" }],
      additionalPrinterColumns: [
        { name: "Colour", type: "string", jsonPath: ".spec.colour" },
        { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large", priority: 1 },
        { name: "Since", type: "date", jsonPath: ".spec.since", format: "date-time" },
        { name: "Items", type: "string", jsonPath: ".spec.items[*].name" },
        { name: "Ok", type: "boolean", jsonPath: '.status.conditions[?(@.type=="Ready")].ok' },
      ],
    },
  },
  {
    spec: object({
      colour: { ...text, default: "red" },
      size: { ...integer, default: 1, minimum: 0 },
      since: { ...text, format: "date-time" },
      items: list(object({ name: text })),
    }),
    status: object({
      size: integer,
      selector: text,
      conditions: list(object({ type: text, ok: { type: "boolean" } })),
    }),
  },
);

const coded = kindOf(
  { plural: "codeds", kind: "Coded" },
  { spec: object({ code: { ...text, format: "byte" }, a: text }) },
);

const bare = kindOf(
  {
    plural: "bares",
    kind: "Bare",
    version: { subresources: { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } } },
  },
  { spec: object({ size: integer, other: text }) },
);

const applied = kindOf(
  { plural: "applieds", kind: "Applied" },
  {
    spec: object({
      byName: list(object({ name: text, value: text, more: object({ a: text, b: text }) }, { required: ["name"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      }),
      byTwo: list(
        object({ port: integer, protocol: { ...text, default: "TCP" }, name: text }, { required: ["port"] }),
        {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
      ),
      set: list(text, { "x-kubernetes-list-type": "set" }),
      whole: list(text, { "x-kubernetes-list-type": "atomic" }),
      plain: list(text),
      one: object({ a: text, b: text }, { "x-kubernetes-map-type": "atomic" }),
      parts: object({ a: text, b: text }),
    }),
  },
);

const first = (name: string) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: object({ spec: object({ a: text }) }) },
});
const second = (name: string, more: object = {}) => ({ ...first(name), storage: false, ...more });

const update = (name: string, patch: object): Step => ({
  method: "PATCH",
  path: `${definitions}/${name}`,
  body: patch,
  headers: merge,
  show: ["spec", "status"],
});
const createOf = (what: string, body: object): Scenario => ({
  title: what,
  steps: [{ method: "POST", path: definitions, body }],
});

/** Creates each object as it is, and with an unknown field. */
const styleScenarios: readonly Scenario[] = styles.map(
  ({ like, plural, kind, group, scope, version, schema, good, bad }) => {
    const base = { plural, kind, group, ...(scope !== undefined && { scope }) };
    const of = kindOf(base, {});
    const made = definition({
      ...base,
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    });
    const objects = [...good, ...bad].flatMap((rest, index) => [
      of.create(`o${index}`, rest, "?dryRun=All"),
      of.create(`o${index}`, { ...rest, notThere: 1 }, "?dryRun=All&fieldValidation=Strict"),
    ]);
    const kept = [
      of.create("kept", good[0] as object),
      of.get("kept"),
      of.apply("kept", "second", good[0] as object, "&dryRun=All"),
    ];
    const shown: Step[] = [
      { path: `${of.at("v1")}?includeObject=None`, headers: table },
      { path: `/apis/${group}/v1`, until: new RegExp(plural) },
    ];
    return { title: `like ${like}`, steps: [...make(made), ...objects, ...kept, ...shown] };
  },
);

export const scenarios: readonly Scenario[] = [
  ...styleScenarios,
  {
    title: "values of wrong types are rejected by the schema",
    steps: [...typed.steps, ...wrongValues.map((spec) => typed.create("a", { spec }, "?dryRun=All"))],
  },
  {
    title: "unknown and duplicate fields are ignored, reported as warnings, or rejected",
    steps: ["Ignore", "Warn", "Strict", "Other"].flatMap((level) => [
      typed.create(
        "a",
        { spec: { text: "ok", nope: 1, open2: { free: 1 }, named: [{ name: "x", nope: {} }] }, nope: [] },
        `?dryRun=All&fieldValidation=${level}`,
      ),
      {
        method: "POST",
        path: `${typed.at("v1")}?dryRun=All&fieldValidation=${level}`,
        body: '{"apiVersion":"example.com/v1","kind":"Typed","metadata":{"name":"a","nope":1},"spec":{"text":"ok","text":"ko"}}',
      },
      {
        method: "POST",
        path: `${typed.at("v1")}?dryRun=All&fieldValidation=${level}`,
        headers: { "content-type": "application/yaml" },
        body: "apiVersion: example.com/v1\nkind: Typed\nmetadata: {name: a}\nspec: {text: ok, text: ko, nope: 1}\n",
      },
    ]),
  },
  {
    title: "bodies that are not objects of the kind are rejected",
    steps: [
      {
        method: "POST",
        path: typed.at("v1"),
        body: { apiVersion: "example.com/v1", kind: "Other", metadata: { name: "a" }, spec: { text: "ok" } },
      },
      {
        method: "POST",
        path: typed.at("v1"),
        body: { apiVersion: "example.com/v2", kind: "Typed", metadata: { name: "a" } },
      },
      { method: "POST", path: typed.at("v1"), body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } } },
      { method: "POST", path: typed.at("v1"), body: { kind: "Typed", metadata: { name: "a" } } },
      {
        method: "POST",
        path: typed.at("v1"),
        headers: { "content-type": "application/yaml" },
        body: "metadata: {name: a}\n",
      },
      { method: "POST", path: typed.at("v1"), body: { metadata: { name: "a" }, spec: { text: "ok" } } },
      { method: "POST", path: typed.at("v1"), body: "[]" },
      { method: "POST", path: typed.at("v1"), body: "{" },
      { method: "POST", path: typed.at("v1"), body: typed.body("A b", { spec: { text: "ok" } }) },
      { method: "POST", path: typed.at("v1"), body: { ...typed.body("a", { spec: { text: "ok" } }), metadata: "x" } },
      {
        method: "POST",
        path: typed.at("v1"),
        body: { ...typed.body("a", { spec: { text: "ok" } }), metadata: { name: "a", labels: { a: 1 } } },
      },
      {
        method: "POST",
        path: typed.at("v1"),
        body: { ...typed.body("a", { spec: { text: "ok" } }), metadata: { name: "a", namespace: "other" } },
      },
      {
        method: "POST",
        path: typed.at("v1"),
        body: { ...typed.body("a", { spec: { text: "ok" } }), metadata: { generateName: "x" } },
        headers: { accept: "application/vnd.kubernetes.protobuf" },
      },
      { path: typed.at("v1"), headers: { accept: "application/vnd.kubernetes.protobuf" } },
      typed.create("kept", { spec: { text: "ok" } }),
      typed.create("kept", { spec: { text: "ok" } }),
      { method: "PUT", path: `${typed.at("v1")}/kept`, body: typed.body("kept", { spec: { text: "ok" } }) },
      { method: "PUT", path: `${typed.at("v1")}/none`, body: typed.body("none", { spec: { text: "ok" } }) },
      {
        method: "PATCH",
        path: `${typed.at("v1")}/kept`,
        body: {},
        headers: { "content-type": "application/strategic-merge-patch+json" },
      },
      { method: "PATCH", path: `${typed.at("v1")}/kept`, body: { spec: { text: "x" } }, headers: merge },
      { method: "PATCH", path: `${typed.at("v1")}/kept`, body: { spec: { nope: "x" } }, headers: merge },
      {
        method: "PATCH",
        path: `${typed.at("v1")}/kept?fieldValidation=Strict`,
        body: { spec: { nope: "x" } },
        headers: merge,
      },
      {
        method: "PATCH",
        path: `${typed.at("v1")}/kept?fieldValidation=Strict`,
        body: [{ op: "add", path: "/spec/nope", value: 1 }],
        headers: jsonPatch,
      },
      {
        method: "PATCH",
        path: `${typed.at("v1")}/kept`,
        body: [{ op: "test", path: "/spec/text", value: "other" }],
        headers: jsonPatch,
      },
      { path: `${typed.at("v1")}/none` },
      { path: `${typed.at("v1")}/kept/status` },
      { path: `${typed.at("v1")}/kept/scale` },
      { method: "DELETE", path: `${typed.at("v1")}/kept?dryRun=All` },
      { method: "DELETE", path: `${typed.at("v1")}/kept` },
      { method: "DELETE", path: `${typed.at("v1")}/kept` },
      { path: "/apis/example.com/v1/namespaces/default/typeds?fieldSelector=spec.text=ok" },
    ],
  },
  {
    title: "rules with message, messageExpression, reason, fieldPath, transitions and optionalOldSelf",
    steps: [
      ...ruled.steps,
      ...[
        { low: 5, high: 3 },
        { high: 200 },
        { low: 300, high: 200 },
        { gate: "shut" },
        { gate: "twice" },
        { gate: "fails", low: 0 },
        { gate: "worse", low: 2 },
        { items: ["bad", "good", "bad"] },
        { high: 5000 },
        { high: "x", items: ["bad"] },
      ].map((spec) => ruled.create("a", { spec }, "?dryRun=All")),
      ruled.create("kept", { spec: { name: "n", once: "o", low: 1, high: 2 } }),
      ruled.merge("kept", { spec: { name: "other" } }),
      ruled.merge("kept", { spec: { once: "other" } }),
      ruled.merge("kept", { spec: { name: null } }),
      ruled.merge("kept", { spec: { name: "again" } }),
    ],
  },
  {
    title: "stored values may remain when a new rule rejects them",
    steps: [
      ruled.create("old", { spec: { high: 50, items: ["fine"] } }),
      {
        method: "PATCH",
        path: `${definitions}/ruleds.example.com`,
        headers: jsonPatch,
        show: ["metadata", "generation"],
        body: [
          {
            op: "add",
            path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/high/maximum",
            value: 10,
          },
          {
            op: "add",
            path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/items/items/enum",
            value: ["good"],
          },
        ],
      },
      { ...ruled.create("new", { spec: { high: 50 } }, "?dryRun=All"), until: /less than or equal to 10/ },
      ruled.merge("old", { spec: { gate: "open" } }),
      ruled.merge("old", { spec: { high: 51 } }),
      ruled.merge("old", { spec: { items: ["fine", "good"] } }),
      ruled.merge("old", { metadata: { labels: { a: "b" } } }),
    ],
  },
  {
    title: "status and scale are written separately, and generations count changes of the spec",
    steps: [
      ...shaped.steps,
      shaped.create("a", { spec: { size: 2 }, status: { size: 9 } }),
      shaped.merge("a", { spec: { colour: "blue" }, status: { size: 3 } }),
      shaped.merge(
        "a",
        { spec: { colour: "green" }, status: { size: 3, selector: "a=b", conditions: [{ type: "Ready", ok: true }] } },
        "/status",
      ),
      shaped.merge("a", { metadata: { labels: { x: "y" } } }),
      { path: `${shaped.at("v1")}/a/scale` },
      shaped.merge("a", { spec: { replicas: 7 } }, "/scale"),
      shaped.merge("a", { spec: { replicas: -1 } }, "/scale"),
      {
        method: "PUT",
        path: `${shaped.at("v1")}/a/scale`,
        body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 3 } },
      },
      shaped.merge("a", { status: { size: "x" } }, "/status"),
      shaped.merge("a", { metadata: { labels: { by: "status" } } }, "/status"),
      shaped.get("a"),
      shaped.merge("a", { spec: { size: -5 } }),
      ...bare.steps,
      bare.create("a", { spec: { other: "x" } }),
      { path: `${bare.at("v1")}/a/scale` },
      bare.merge("a", { metadata: {} }, "/scale"),
      bare.merge("a", { spec: { replicas: 2 } }, "/scale"),
      { path: `${bare.at("v1")}/a/scale` },
      { method: "POST", path: bare.at("v1"), body: bare.body("b", { spec: "x" }) },
    ],
  },
  {
    title: "lists by selectable fields, as Tables, metadata only and YAML",
    steps: [
      shaped.create("b", {
        spec: { colour: "red", since: "2020-01-01T00:00:00Z", items: [{ name: "x" }, { name: "y" }] },
      }),
      ...["spec.colour=red", "spec.size=3", "spec.colour!=red,spec.size=3", "metadata.name=b", "spec.since=x"].map(
        (selector) => ({
          path: `${shaped.at("v1")}?fieldSelector=${encodeURIComponent(selector)}`,
        }),
      ),
      { path: `${shaped.at("v1")}?includeObject=None`, headers: table },
      { path: `${shaped.at("v1")}/b?includeObject=None`, headers: table },
      {
        path: `${shaped.at("v1")}/b`,
        headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
      },
      { path: "/apis/example.com/v1", until: /shapeds/, show: ["groupVersion"] },
      { method: "DELETE", path: `${shaped.at("v1")}?labelSelector=x=y` },
      { path: shaped.at("v1") },
    ],
  },
  {
    title: "apply merges by the types of lists and maps",
    steps: [
      ...applied.steps,
      applied.apply("a", "one", {
        spec: {
          byName: [{ name: "x", value: "1" }],
          byTwo: [{ port: 80 }],
          set: ["a"],
          whole: ["a"],
          plain: ["a"],
          one: { a: "1" },
          parts: { a: "1" },
        },
      }),
      applied.apply("a", "two", {
        spec: {
          byName: [{ name: "y", value: "2" }],
          byTwo: [{ port: 80, protocol: "UDP" }],
          set: ["b"],
          parts: { b: "2" },
        },
      }),
      applied.apply("a", "two", { spec: { whole: ["b"] } }),
      applied.apply("a", "two", { spec: { one: { b: "2" } } }),
      applied.apply("a", "two", { spec: { byName: [{ name: "x", value: "3" }] } }),
      applied.apply(
        "a",
        "two",
        { spec: { whole: ["b"], one: { b: "2" }, byName: [{ name: "x", value: "3" }] } },
        "&force=true",
      ),
      applied.apply("a", "one", { spec: { byName: [{ name: "z" }] } }),
      applied.apply("a", "two", { spec: { byName: [{ name: "x" }, { name: "x" }] } }),
      applied.apply("a", "two", { spec: { byName: [{ value: "x" }] } }),
      applied.apply("a", "two", { spec: { set: "x" } }),
      applied.apply("a", "two", { spec: { nope: "x" } }),
      applied.apply("a", "two", { spec: { parts: { b: null } } }),
      applied.apply("a", "two", { spec: { byName: [{ name: null }] } }),
      applied.apply("a", "two", { spec: { byTwo: [{ protocol: "TCP" }] } }),
      applied.apply("a", "two", { spec: { parts: { b: "3" } } }, "&dryRun=All"),
      applied.merge("a", { spec: { set: ["c"], parts: { a: null } } }),
      ...coded.steps,
      coded.create("a", { spec: { code: [{}] } }),
      coded.apply("a", "one", { spec: { a: "x" } }),
      { method: "PATCH", path: `${applied.at("v1")}/a`, body: applied.body("a", {}), headers: apply },
      {
        method: "PATCH",
        path: `${applied.at("v1")}/a?fieldManager=one`,
        body: { apiVersion: "example.com/v1", kind: "Applied", metadata: { name: "b" } },
        headers: apply,
      },
    ],
  },
  {
    title: "a second definition of a kind waits until the first is deleted",
    steps: [
      ...make(definition({ plural: "ones", kind: "Wanted", names: { shortNames: ["wa"] } })),
      {
        method: "POST",
        path: definitions,
        body: definition({ plural: "twos", kind: "Wanted", names: { singular: "ones", shortNames: ["wa", "tw"] } }),
        show: ["spec", "names"],
      },
      { path: `${definitions}/twos.example.com`, until: /"type":"NamesAccepted"/, show: ["status"] },
      { path: "/apis/example.com/v1/twos" },
      { method: "DELETE", path: `${definitions}/ones.example.com`, show: ["status"] },
      { path: `${definitions}/ones.example.com`, until: /"code":404/ },
      {
        path: `${definitions}/twos.example.com`,
        until: /"message":"no conflicts found"/,
        show: ["status", "acceptedNames"],
      },
    ],
  },
  {
    title: "accepted names follow requested names, except names of another definition",
    steps: [
      ...make(definition({ plural: "firsts", kind: "First", names: { shortNames: ["fi"] } })),
      ...make(definition({ plural: "others", kind: "Others" })),
      update("others.example.com", {
        spec: { names: { shortNames: ["fi"], categories: ["all"], singular: "otherx" } },
      }),
      { path: `${definitions}/others.example.com`, until: /ShortNamesConflict/, show: ["status"] },
      update("others.example.com", { spec: { names: { shortNames: ["ot"], kind: "Otherness" } } }),
      update("others.example.com", { spec: { names: { shortNames: ["ot"] } } }),
      { path: `${definitions}/others.example.com`, until: /"no conflicts found"/, show: ["status"] },
    ],
  },
  createOf(
    "a definition with invalid names",
    definition({
      plural: "Bad_Plural",
      kind: "bad kind",
      names: { singular: "Bad", shortNames: ["x y"], categories: ["C"], listKind: "bad kind" },
    }),
  ),
  createOf("a definition with a name other than plural and group", {
    ...definition({ plural: "goods", kind: "Good" }),
    metadata: { name: "bads.example.com" },
  }),
  createOf("a definition with no versions", definition({ plural: "goods", kind: "Good", versions: [] })),
  createOf(
    "a definition with two storage versions",
    definition({ plural: "goods", kind: "Good", versions: [first("v1"), first("v2")] }),
  ),
  createOf(
    "a definition with two versions with the same name",
    definition({ plural: "goods", kind: "Good", versions: [first("v1"), second("v1")] }),
  ),
  createOf("a definition with a group without a dot", definition({ plural: "goods", kind: "Good", group: "example" })),
  createOf("a definition with an unknown scope", definition({ plural: "goods", kind: "Good", scope: "World" })),
  createOf(
    "a definition with preserveUnknownFields of the definition",
    definition({ plural: "goods", kind: "Good", spec: { preserveUnknownFields: true } }),
  ),
  createOf(
    "a definition with a protected group without approval",
    definition({ plural: "goods", kind: "Good", group: "x.k8s.io" }),
  ),
  createOf(
    "a definition with a protected group with an invalid approval",
    definition({
      plural: "goods",
      kind: "Good",
      group: "x.k8s.io",
      annotations: { "api-approved.kubernetes.io": "me" },
    }),
  ),
  {
    title: "the condition of a protected group follows the annotation",
    steps: [
      ...make(
        definition({
          plural: "apps",
          kind: "App",
          group: "y.k8s.io",
          annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/78458" },
        }),
      ),
      { path: `${definitions}/apps.y.k8s.io`, until: /ApprovedAnnotation/, show: ["status", "conditions"] },
      {
        ...update("apps.y.k8s.io", {
          metadata: { annotations: { "api-approved.kubernetes.io": "unapproved, for a test" } },
        }),
        show: ["metadata", "annotations"],
      },
      { path: `${definitions}/apps.y.k8s.io`, until: /UnapprovedAnnotation/, show: ["status", "conditions"] },
      {
        ...update("apps.y.k8s.io", { metadata: { annotations: { "api-approved.kubernetes.io": null } } }),
        show: ["metadata", "annotations"],
      },
    ],
  },
  ...(
    [
      ["a missing type", { spec: { properties: { a: text } } }],
      ["an unknown type", { spec: { type: "thing" } }],
      ["a list without items", { spec: { type: "array" } }],
      [
        "properties and additionalProperties together",
        { spec: { type: "object", properties: { a: text }, additionalProperties: text } },
      ],
      ["unique items", { spec: list(text, { uniqueItems: true }) }],
      ["a reference", { spec: { $ref: "#/x" } }],
      ["a type within anyOf", { spec: object({ a: text }, { anyOf: [{ properties: { a: { type: "string" } } }] }) }],
      [
        "a field that only allOf declares",
        { spec: object({ a: text }, { allOf: [{ required: ["b"], properties: { b: { minLength: 1 } } }] }) },
      ],
      ["a default that its schema rejects", { spec: object({ a: { ...integer, minimum: 5, default: 3 } }) }],
      ["a default of another type", { spec: object({ a: { ...integer, default: "x" } }) }],
      ["a default with unknown fields", { spec: object({ a: object({ b: text }, { default: { c: "x" } }) }) }],
      ["a null default", { spec: object({ a: { ...text, default: null } }) }],
      ["an invalid pattern", { spec: object({ a: { ...text, pattern: "(" } }) }],
      ["constraints of metadata other than names", { metadata: object({ labels: { type: "object" } }) }],
      [
        "an embedded resource that is not an object",
        { spec: object({ a: { type: "string", "x-kubernetes-embedded-resource": true } }) },
      ],
      ["a map without keys", { spec: object({ a: list(object({ n: text }), { "x-kubernetes-list-type": "map" }) }) }],
      [
        "a map with an optional key",
        {
          spec: object({
            a: list(object({ n: text }), { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"] }),
          }),
        },
      ],
      ["a set of objects", { spec: object({ a: list(object({ n: text }), { "x-kubernetes-list-type": "set" }) }) }],
      [
        "a rule with a syntax error",
        { spec: object({ a: text }, { "x-kubernetes-validations": [{ rule: "self.a ==" }] }) },
      ],
      [
        "a rule about an unknown field",
        { spec: object({ a: text }, { "x-kubernetes-validations": [{ rule: "self.b == 'x'" }] }) },
      ],
      [
        "a rule that is not boolean",
        { spec: object({ a: text }, { "x-kubernetes-validations": [{ rule: "self.a" }] }) },
      ],
      [
        "an invalid messageExpression",
        {
          spec: object(
            { a: text },
            { "x-kubernetes-validations": [{ rule: "true", messageExpression: "self.a + 1" }] },
          ),
        },
      ],
      [
        "a rule above the cost limit",
        {
          spec: object(
            { a: list(list(text)) },
            { "x-kubernetes-validations": [{ rule: "self.a.all(x, x.all(y, self.a.all(z, z.all(w, w == y))))" }] },
          ),
        },
      ],
      [
        "rules below an unbounded list",
        { spec: list(object({ a: text }, { "x-kubernetes-validations": [{ rule: "self.a.contains('x')" }] })) },
      ],
      [
        "a fieldPath of an unknown field",
        { spec: object({ a: text }, { "x-kubernetes-validations": [{ rule: "true", fieldPath: ".b" }] }) },
      ],
      [
        "oldSelf below a list",
        {
          spec: object({
            a: list(object({ b: text }, { "x-kubernetes-validations": [{ rule: "self.b == oldSelf.b" }] })),
          }),
        },
      ],
    ] as [string, object][]
  ).map(([what, properties]) =>
    createOf(`a schema with ${what}`, definition({ plural: "goods", kind: "Good" }, properties)),
  ),
  createOf(
    "a definition with invalid columns, scale and selectable fields",
    definition(
      {
        plural: "goods",
        kind: "Good",
        version: {
          additionalPrinterColumns: [
            { name: "", type: "text", jsonPath: "x" },
            { name: "A", type: "date", format: "odd", jsonPath: "" },
          ],
          subresources: { scale: { specReplicasPath: ".x", statusReplicasPath: "", labelSelectorPath: ".y" } },
          selectableFields: [
            { jsonPath: ".spec.nope" },
            { jsonPath: ".spec.a" },
            { jsonPath: ".spec.a" },
            { jsonPath: ".metadata.name" },
          ],
        },
      },
      { spec: object({ a: text }) },
    ),
  ),
  createOf(
    "a definition with a conversion webhook without TLS and supported versions",
    definition({
      plural: "goods",
      kind: "Good",
      spec: {
        conversion: {
          strategy: "Webhook",
          webhook: { conversionReviewVersions: ["v9"], clientConfig: { url: "http://x" } },
        },
      },
    }),
  ),
  {
    title: "a stored version cannot be removed until status.storedVersions omits it",
    steps: [
      ...make(definition({ plural: "stores", kind: "Store", versions: [first("v1"), second("v2")] })),
      update("stores.example.com", { spec: { versions: [{ ...first("v1"), storage: false }, first("v2")] } }),
      update("stores.example.com", { spec: { versions: [first("v2")] } }),
      {
        ...update("stores.example.com", { status: { storedVersions: ["v2"] } }),
        path: `${definitions}/stores.example.com/status`,
      },
      update("stores.example.com", { spec: { versions: [first("v2")] } }),
      {
        ...update("stores.example.com", { status: { storedVersions: [] } }),
        path: `${definitions}/stores.example.com/status`,
      },
      { path: "/apis/example.com/v1/namespaces/default/stores", until: /"code":404|page not found/, show: ["code"] },
    ],
  },
  {
    title: "immutable fields of an established definition cannot change",
    steps: [
      ...make(definition({ plural: "fixeds", kind: "Fixed" })),
      update("fixeds.example.com", {
        spec: { scope: "Cluster", names: { kind: "Loose", plural: "looses" }, group: "example.org" },
      }),
      update("fixeds.example.com", { spec: { preserveUnknownFields: true } }),
      update("fixeds.example.com", {
        spec: {
          versions: [{ ...first("v1"), schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } }],
        },
      }),
      { ...update("fixeds.example.com", { spec: { versions: [first("v1")] } }), show: ["metadata", "generation"] },
    ],
  },
  {
    title: "a default of the status is set, although the written status is reset",
    steps: (() => {
      const kind = kindOf(
        { plural: "defaulteds", kind: "Defaulted", version: { subresources: { status: {} } } },
        {
          spec: object({ a: { ...text, default: "x" } }, { default: {} }),
          status: object({ phase: { ...text, default: "Pending" } }, { default: { phase: "New" } }),
        },
      );
      return [
        ...kind.steps,
        kind.create("a", { status: { phase: "Mine" } }),
        kind.create("b", { status: { phase: 7 } }),
        kind.get("b"),
        kind.merge("a", { spec: { a: null } }),
        kind.merge("a", { status: { phase: null } }, "/status"),
        kind.merge("a", { status: null }, "/status"),
        kind.get("a"),
      ];
    })(),
  },
  {
    title: "a cluster-scoped kind is served without namespaces",
    steps: (() => {
      const kind = kindOf({ plural: "worlds", kind: "World", scope: "Cluster" }, { spec: object({ a: text }) });
      return [
        ...kind.steps,
        kind.create("a", { spec: { a: "x" } }),
        kind.get("a"),
        {
          method: "POST",
          path: "/apis/example.com/v1/worlds",
          body: { ...kind.body("b", {}), metadata: { name: "b", namespace: "x" } },
        },
        {
          method: "POST",
          path: "/apis/example.com/v1/worlds",
          body: { ...kind.body("", {}), metadata: { generateName: "b-" } },
          show: ["kind"],
        },
        { method: "DELETE", path: "/apis/example.com/v1/worlds", show: ["kind"] },
        { path: "/apis/example.com/v1/worlds", show: ["items"] },
      ];
    })(),
  },
  {
    title: "a terminating definition reports it, rejects creations and deletes its objects",
    steps: (() => {
      const kind = kindOf({ plural: "mortals", kind: "Mortal" }, { spec: object({ a: text }) });
      return [
        ...kind.steps,
        {
          method: "POST",
          path: kind.at("v1"),
          body: { ...kind.body("held", {}), metadata: { name: "held", finalizers: ["example.com/hold"] } },
        },
        kind.create("free", {}),
        { method: "DELETE", path: `${definitions}/mortals.example.com`, show: ["metadata", "finalizers"] },
        {
          path: `${definitions}/mortals.example.com`,
          until: /InstanceDeletion(InProgress|Pending)/,
          show: ["spec", "names"],
        },
        { ...kind.create("late", {}), until: /terminating/ },
        { path: `${kind.at("v1")}/free`, until: /"code":404/ },
        { ...kind.merge("held", { metadata: { finalizers: null } }), show: ["kind"] },
        { path: `${definitions}/mortals.example.com`, until: /"code":404/ },
      ];
    })(),
  },
];
