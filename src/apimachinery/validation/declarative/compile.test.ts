/**
 * Every marker with values that pass and fail, the rules that stop others, and the checks of
 * updates.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { builtinDefinitionNames, builtinSchema, builtinType } from "../../../catalog/builtin-schemas.ts";
import type { Field, List, Struct, Type } from "../../../lib/schema/schema.ts";
import { FieldErrors } from "../../field-errors.ts";
import { compileRules } from "./compile.ts";
import { type Marker, parseMarker } from "./marker.ts";

type Fields = Readonly<
  Record<string, Partial<Omit<Field, "markers">> & { readonly type: Type; readonly markers?: string }>
>;

/** @param fields markers are separated by spaces, without `+k8s:` where they begin */
function struct(definition: string, fields: Fields): Struct {
  const list = Object.entries(fields).map(([name, { markers, typeMarkers, pointer = false, ...rest }]): Field => {
    const written = markers?.split(" ").map((marker) => `+k8s:${marker}`);
    const flags = { omitEmpty: true, omitZero: false, required: false };
    return {
      name,
      pointer,
      ...flags,
      ...rest,
      ...(written && { markers: written }),
      ...(typeMarkers && { typeMarkers }),
    };
  });
  const byName = new Map(list.map((field) => [field.name, field]));
  return {
    kind: "struct",
    definition,
    goType: definition,
    fields: list,
    byName,
    atomic: false,
    preserveUnknown: false,
  };
}

const text: Type = { kind: "string" };
const int: Type = { kind: "int32" };
const bool: Type = { kind: "bool" };
const listOf = (items: Type): List => ({ kind: "list", items, listType: "atomic", mapKeys: [] });
const mapOf = (values: Type): Type => ({ kind: "map", values, atomic: false });
const pair = struct("Pair", { name: { type: text }, value: { type: text, pointer: true } });
const ruled = struct("Ruled", { name: { type: text, markers: "required" } });

interface Options {
  readonly old?: unknown;
  readonly options?: readonly string[];
}

/** @returns `path: message (origin, level)` */
function validate(schema: Struct, object: unknown, { old, options = [] }: Options = {}): string[] {
  const errors = new FieldErrors();
  const rules = compileRules(schema);
  rules?.check({ update: old !== undefined, hasOption: (name) => options.includes(name), errors }, "", object, old);
  return errors.causes.map((cause) => {
    const { origin = "", level } = errors.marks.get(cause) ?? {};
    const marked = [origin, level === "standard" ? "" : level].filter(Boolean).join();
    return `${cause.field}: ${cause.message}${marked === "" ? "" : ` (${marked})`}`;
  });
}

/** The fields of a struct, the objects that pass, and the objects that fail with their errors. */
interface Row {
  readonly fields: Fields;
  readonly passes: readonly (readonly [object: unknown, options?: Options])[];
  readonly fails: readonly (readonly [object: unknown, errors: readonly string[], options?: Options])[];
}

const immutable = "a: Invalid value: null: field is immutable (immutable)";

const rows: Readonly<Record<string, Row>> = {
  "required of a text": {
    fields: { a: { type: text, markers: "required" } },
    passes: [[{ a: "x" }]],
    fails: [
      [{}, ["a: Required value"]],
      [{ a: "" }, ["a: Required value"]],
    ],
  },
  "required of a pointer": {
    fields: { a: { type: int, pointer: true, markers: "required" } },
    passes: [[{ a: 0 }]],
    fails: [[{}, ["a: Required value"]]],
  },
  "required of a list": {
    fields: { a: { type: listOf(text), markers: "required" } },
    passes: [[{ a: [""] }]],
    fails: [[{ a: [] }, ["a: Required value"]]],
  },
  "required of a map": {
    fields: { a: { type: mapOf(text), markers: "required" } },
    passes: [[{ a: { x: "" } }]],
    fails: [[{ a: {} }, ["a: Required value"]]],
  },
  "optional stops the other rules if the value is not set": {
    fields: { a: { type: text, markers: "optional format=k8s-short-name" } },
    passes: [[{}], [{ a: "" }], [{ a: "x" }]],
    fails: [[{ a: "a.b" }, ['a: Invalid value: "a.b": must not contain dots (format=k8s-short-name)']]],
  },
  "optional with a default is required": {
    fields: { a: { type: int, pointer: true, default: 1, markers: "optional minimum=0" } },
    passes: [[{ a: 0 }]],
    fails: [[{}, ["a: Required value"]]],
  },
  "optional has no effect when the default is zero": {
    fields: { a: { type: int, default: 0, markers: "optional minimum=1" } },
    passes: [[{ a: 1 }]],
    fails: [[{}, ["a: Invalid value: 0: must be greater than or equal to 1 (minimum)"]]],
  },
  forbidden: {
    fields: { a: { type: text, markers: "forbidden format=k8s-uuid" } },
    passes: [[{}], [{ a: "" }]],
    fails: [[{ a: "x" }, ["a: Forbidden"]]],
  },
  immutable: {
    fields: { a: { type: text, markers: "immutable maxLength=2" } },
    passes: [[{ a: "x" }], [{ a: "xxx" }, { old: { a: "xxx" } }], [{}, { old: { a: "" } }]],
    fails: [
      [{ a: "yyy" }, [immutable], { old: { a: "x" } }],
      [{}, [immutable], { old: { a: "x" } }],
    ],
  },
  "update=NoSet": {
    fields: { a: { type: text, pointer: true, markers: "update=NoSet" } },
    passes: [[{ a: "x" }], [{ a: "y" }, { old: { a: "x" } }], [{}, { old: { a: "x" } }]],
    fails: [[{ a: "x" }, ["a: Invalid value: null: field cannot be set once created (update)"], { old: {} }]],
  },
  "update=NoUnset": {
    fields: { a: { type: text, markers: "update=NoUnset" } },
    passes: [
      [{ a: "y" }, { old: { a: "x" } }],
      [{ a: "x" }, { old: {} }],
    ],
    fails: [[{}, ["a: Invalid value: null: field cannot be cleared once set (update)"], { old: { a: "x" } }]],
  },
  "update=NoModify": {
    fields: { a: { type: pair, pointer: true, markers: "alpha=+k8s:update=NoModify" } },
    passes: [
      [{ a: { name: "x" } }, { old: {} }],
      [{}, { old: { a: { name: "x" } } }],
    ],
    fails: [
      [
        { a: { name: "y" } },
        ["a: Invalid value: null: field cannot be modified once set (update,alpha)"],
        { old: { a: { name: "x" } } },
      ],
    ],
  },
  "update of a struct that is not a pointer": {
    fields: { a: { type: pair, markers: "update=NoModify" } },
    passes: [[{}, { old: {} }]],
    fails: [
      [{ a: { name: "y" } }, ["a: Invalid value: null: field cannot be modified once set (update)"], { old: {} }],
    ],
  },
  "minimum and maximum": {
    fields: { a: { type: { kind: "int64" }, pointer: true, markers: "minimum=-1 maximum=9007199254740993" } },
    passes: [[{}], [{ a: -1 }], [{ a: 9007199254740993n }]],
    fails: [
      [{ a: -2 }, ["a: Invalid value: -2: must be greater than or equal to -1 (minimum)"]],
      [
        { a: 9007199254740994n },
        ["a: Invalid value: 9007199254740994: must be less than or equal to 9007199254740993 (maximum)"],
      ],
    ],
  },
  maxItems: {
    fields: { a: { type: listOf(ruled), markers: "maxItems=1" } },
    passes: [[{ a: [{ name: "x" }] }]],
    fails: [
      [{ a: [{}, {}] }, ["a: Too many: 2: must have at most 1 item (maxItems)"]],
      [{ a: [{}] }, ["a[0].name: Required value"]],
    ],
  },
  "maxLength counts characters": {
    fields: { a: { type: text, markers: "maxLength=2" } },
    passes: [[{ a: "\u{1f600}\u{1f600}" }]],
    fails: [[{ a: "abc" }, ["a: Too long: may not be more than 2 characters (maxLength)"]]],
  },
  "maxBytes counts bytes": {
    fields: { a: { type: text, markers: "maxBytes=3" } },
    passes: [[{ a: "abc" }]],
    fails: [[{ a: "éé" }, ["a: Too long: may not be more than 3 bytes (maxBytes)"]]],
  },
  neq: {
    fields: {
      a: { type: text, markers: 'neq="x"' },
      b: { type: int, markers: "neq=5" },
      c: { type: bool, markers: "neq=true" },
    },
    passes: [[{ a: "y", b: 4, c: false }]],
    fails: [
      [
        { a: "x", b: 5, c: true },
        [
          'a: Invalid value: "x": must not be equal to "x" (neq)',
          "b: Invalid value: 5: must not be equal to 5 (neq)",
          "c: Invalid value: true: must not be equal to true (neq)",
        ],
      ],
    ],
  },
  enum: {
    fields: { a: { type: { kind: "string", enum: ["A", "B"] }, typeMarkers: ["+k8s:enum"], markers: "optional" } },
    passes: [[{ a: "A" }], [{}]],
    fails: [[{ a: "C" }, ['a: Unsupported value: "C": supported values: "A", "B"']]],
  },
  "listType=set and unique=set": {
    fields: {
      a: { type: listOf(text), markers: "listType=set" },
      b: { type: listOf(int), markers: "listType=atomic alpha=+k8s:unique=set" },
    },
    passes: [[{ a: ["x", "y"], b: [1, 2] }]],
    fails: [
      [
        { a: ["x", "y", "x", "x"], b: [1, 1] },
        ['a[2]: Duplicate value: "x"', 'a[3]: Duplicate value: "x"', "b[1]: Duplicate value: 1 (alpha)"],
      ],
    ],
  },
  "listMapKey distinguishes a nil pointer from an empty text": {
    fields: { a: { type: listOf(pair), markers: "listType=map listMapKey=name listMapKey=value" } },
    passes: [[{ a: [{ name: "x" }, { name: "x", value: "" }, { name: "" }] }]],
    fails: [[{ a: [{ value: "" }, { name: "", value: "" }] }, ['a[1]: Duplicate value: {"value":""}']]],
  },
  "unique=map": {
    fields: { a: { type: listOf(pair), markers: "listType=atomic unique=map listMapKey=name" } },
    passes: [[{ a: [{ name: "x" }, { name: "y" }] }]],
    fails: [[{ a: [{ name: "x" }, { name: "x", value: "v" }] }, ['a[1]: Duplicate value: {"name":"x","value":"v"}']]],
  },
  "customUnique does not report duplicates": {
    fields: { a: { type: listOf(pair), markers: "listType=map listMapKey=name customUnique maxItems=2" } },
    passes: [[{ a: [{ name: "x" }, { name: "x" }] }]],
    fails: [[{ a: [{}, {}, {}] }, ["a: Too many: 3: must have at most 2 items (maxItems)"]]],
  },
  "eachVal of a list": {
    fields: { a: { type: listOf(text), markers: "eachVal=+k8s:maxBytes=1 listType=set" } },
    passes: [[{ a: ["x"] }], [{ a: ["y", "xx"] }, { old: { a: ["xx"] } }]],
    fails: [[{ a: ["xx", "yy"] }, ["a[1]: Too long: may not be more than 1 byte (maxBytes)"], { old: { a: ["xx"] } }]],
  },
  "eachVal of a map": {
    fields: { a: { type: mapOf(int), markers: "eachVal=+k8s:minimum=1" } },
    passes: [[{ a: { x: 1 } }], [{ a: { x: 0, y: 1 } }, { old: { a: { x: 0 } } }]],
    fails: [[{ a: { x: 0 } }, ["a[x]: Invalid value: 0: must be greater than or equal to 1 (minimum)"]]],
  },
  eachKey: {
    fields: { a: { type: mapOf(text), markers: "alpha=+k8s:eachKey=+k8s:maxBytes=1" } },
    passes: [[{ a: { x: "" } }], [{ a: { xx: "new", y: "" } }, { old: { a: { xx: "" } } }]],
    fails: [[{ a: { xx: "" } }, ["a: Too long: may not be more than 1 byte (maxBytes,alpha)"]]],
  },
  subfield: {
    fields: {
      a: {
        type: pair,
        markers: "subfield(name)=+k8s:optional subfield(name)=+k8s:maxBytes=1 subfield(value)=+k8s:required",
      },
    },
    passes: [[{ a: { value: "v" } }], [{ a: { name: "xx", value: "w" } }, { old: { a: { name: "xx", value: "v" } } }]],
    fails: [
      [{ a: { name: "xx" } }, ["a.name: Too long: may not be more than 1 byte (maxBytes)", "a.value: Required value"]],
    ],
  },
  item: {
    fields: { a: { type: listOf(pair), markers: 'listType=map listMapKey=name item(name:"x")=+k8s:immutable' } },
    passes: [
      [{ a: [{ name: "y", value: "2" }] }, { old: { a: [{ name: "y", value: "1" }] } }],
      [{ a: [] }, { old: { a: [{ name: "x" }] } }],
    ],
    fails: [
      [
        { a: [{ name: "y" }, { name: "x", value: "2" }] },
        ["a[1]: Invalid value: null: field is immutable (immutable)"],
        { old: { a: [{ name: "x", value: "1" }] } },
      ],
    ],
  },
  "zeroOrOneOfMember of items": {
    fields: {
      a: {
        type: listOf(pair),
        markers:
          'listType=map listMapKey=name item(name:"x")=+k8s:zeroOrOneOfMember item(name:"y")=+k8s:zeroOrOneOfMember',
      },
    },
    passes: [
      [{ a: [] }],
      [{ a: [{ name: "x" }] }],
      [{ a: [{ name: "y" }, { name: "x" }, { name: "z" }] }, { old: { a: [{ name: "x" }, { name: "y" }] } }],
    ],
    fails: [
      [
        { a: [{ name: "x" }, { name: "y" }] },
        [
          'a: Invalid value: "{a[{\\"name\\": \\"x\\"}], a[{\\"name\\": \\"y\\"}]}": must specify at most one of: `a[{"name": "x"}]`, `a[{"name": "y"}]` (zeroOrOneOf)',
        ],
      ],
    ],
  },
  unionMember: {
    fields: {
      s: {
        type: struct("Union", {
          a: { type: text, pointer: true, markers: "unionMember" },
          b: { type: listOf(text), markers: "unionMember" },
        }),
      },
    },
    passes: [
      [{ s: { a: "" } }],
      [{ s: { b: ["x"], a: null } }],
      [{ s: { a: "y", b: ["x"] } }, { old: { s: { a: "x", b: ["y"] } } }],
    ],
    fails: [
      [{ s: { b: [] } }, ['s: Invalid value: "": must specify one of: `a`, `b` (union)']],
      [{ s: { a: "", b: ["x"] } }, ['s: Invalid value: "{a, b}": must specify exactly one of: `a`, `b` (union)']],
    ],
  },
  unionDiscriminator: {
    fields: {
      s: {
        type: struct("Discriminated", {
          type: { type: text, markers: "unionDiscriminator" },
          a: { type: text, pointer: true, markers: "unionMember" },
          b: { type: text, pointer: true, markers: 'unionMember(memberName:"Other")' },
        }),
      },
    },
    passes: [[{ s: { type: "A", a: "" } }], [{ s: { type: "Other", b: "" } }], [{ s: { type: "?" } }]],
    fails: [
      [
        { s: { type: "A", b: "" } },
        [
          's.a: Invalid value: "": must be specified when `type` is "A" (union)',
          's.b: Invalid value: "": may only be specified when `type` is "Other" (union)',
        ],
      ],
    ],
  },
  "discriminator and member": {
    fields: {
      type: { type: text, markers: "discriminator" },
      a: {
        type: pair,
        pointer: true,
        markers: 'member("Full")=+k8s:required member("Empty")=+k8s:forbidden member("Any")=+k8s:optional',
      },
    },
    passes: [
      [{ type: "Full", a: {} }],
      [{ type: "Empty" }],
      [{ type: "Any", a: {} }],
      [{ type: "?" }],
      [{ type: "?", a: {} }, { old: { type: "?", a: {} } }],
    ],
    fails: [
      [{ type: "Full" }, ["a: Required value"]],
      [{ type: "Empty", a: {} }, ["a: Forbidden"]],
      [{ type: "?", a: {} }, ["a: Forbidden"]],
    ],
  },
  "ifEnabled and ifDisabled": {
    fields: { a: { type: int, markers: 'ifEnabled(Gate)=+k8s:minimum=0 ifDisabled("Gate")=+k8s:minimum=1' } },
    passes: [[{ a: 1 }], [{ a: 0 }, { options: ["Gate"] }]],
    fails: [
      [{ a: 0 }, ["a: Invalid value: 0: must be greater than or equal to 1 (minimum)"]],
      [{ a: -1 }, ["a: Invalid value: -1: must be greater than or equal to 0 (minimum)"], { options: ["Gate"] }],
    ],
  },
  "alpha and beta": {
    fields: {
      a: { type: text, markers: 'alpha(since:"1.36")=+k8s:required' },
      b: { type: text, markers: "beta=+k8s:required" },
    },
    passes: [[{ a: "x", b: "x" }]],
    fails: [[{}, ["a: Required value (alpha)", "b: Required value (beta)"]]],
  },
  "opaqueType skips the rules of the type": {
    fields: { a: { type: ruled, markers: "opaqueType" }, b: { type: ruled } },
    passes: [[{ b: { name: "x" } }]],
    fails: [[{}, ["b.name: Required value"]]],
  },
};

const formats: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  "k8s-extended-resource-name": ["example.com/a", "requests.example.com/a"],
  "k8s-label-key": ["example.com/a", "a/b/c"],
  "k8s-label-value": ["A", "-"],
  "k8s-long-name": ["a.b", "A"],
  "k8s-long-name-caseless": ["A.b", "_"],
  "k8s-path-segment-name": ["A:b", ".."],
  "k8s-resource-fully-qualified-name": ["a.b/c", "c"],
  "k8s-resource-pool-name": ["a/b.c", "a//b"],
  "k8s-short-name": ["a", "a.b"],
  "k8s-uuid": ["01234567-89ab-cdef-0123-456789abcdef", "x"],
};

for (const [what, { fields, passes, fails }] of Object.entries(rows)) {
  test(what, () => {
    const schema = struct("Root", fields);
    for (const [object, options] of passes)
      assert.deepEqual(validate(schema, object, options), [], inspect({ object, options }));
    for (const [object, errors, options] of fails)
      assert.deepEqual(validate(schema, object, options), errors, inspect({ object, options }));
  });
}

for (const [format, [good, bad]] of Object.entries(formats)) {
  test(`format=${format}`, () => {
    const schema = struct("Root", { a: { type: text, markers: `format=${format}` } });
    assert.deepEqual(validate(schema, { a: good }), []);
    const found = validate(schema, { a: bad });
    assert.ok(
      found.length > 0 &&
        found.every((one) => one.startsWith("a: Invalid value") && one.endsWith(`(format=${format})`)),
      String(found),
    );
  });
}

const chain = (marker: Marker): Marker[] => [marker, ...(marker.inner === undefined ? [] : chain(marker.inner))];

test("compiles every built-in kind, and has a row above for each of their markers", () => {
  const tested = Object.values(rows).flatMap(({ fields }) => JSON.stringify(fields));
  for (const definition of builtinDefinitionNames()) {
    if (builtinType(definition).kind !== "struct") continue;
    const schema = builtinSchema(definition);
    compileRules(schema);
    for (const marker of schema.fields.flatMap(({ markers = [], typeMarkers = [] }) => [...markers, ...typeMarkers])) {
      for (const { name, value = "" } of chain(parseMarker(marker))) {
        if (name === "format") assert.ok(Object.hasOwn(formats, value), marker);
        else
          assert.ok(
            tested.some((fields) => fields.includes(name)),
            marker,
          );
      }
    }
  }
});

test("rejects unknown markers and markers that do not apply to the type", () => {
  for (const markers of [
    "unknownMarker",
    "format=nope",
    "maxItems=x",
    "update=NoMore",
    "listType=heap",
    "eachVal=+k8s:required",
    "item(a:1)=+k8s:required",
  ]) {
    assert.throws(() => compileRules(struct("Root", { a: { type: text, markers } })), Error, markers);
  }
});

test("validates recursive structs, and skips kinds without rules", () => {
  const fields: Record<string, Field> = {};
  const node: Struct = { ...struct("Node", { name: { type: text, markers: "required" } }), fields: [] as Field[] };
  for (const field of struct("", { name: { type: text, markers: "required" }, next: { type: node, pointer: true } })
    .fields)
    fields[field.name] = field;
  (node.fields as Field[]).push(...Object.values(fields));
  assert.deepEqual(validate(node, { name: "a", next: { next: { name: "c" } } }), ["next.name: Required value"]);
  assert.equal(compileRules(struct("Root", { a: { type: pair } })), undefined);
  assert.equal(compileRules(builtinSchema("io.k8s.api.core.v1.Pod")), undefined);
});
