/**
 * Random objects for declarative validation: mostly fields with rules, with values near the limits
 * of rules, and updates of them.
 */
import { ruledStructs } from "../../src/apimachinery/validation/declarative/ruled-structs.ts";
import { cloneJson, setMember } from "../../src/lib/json/values.ts";
import type { Field, Struct, Type } from "../../src/lib/schema/schema.ts";

/** Returns an integer from 0 to below the argument, as `seededRandom` does. */
type Random = (below: number) => number;
type Part = Record<string, unknown>;

const texts = [
  "",
  "a",
  "b",
  "a.b",
  "A",
  "-a",
  "a_b",
  "a/b",
  "/a",
  "a/",
  "a/b/c",
  "example.com/dev",
  "kubernetes.io/dev",
  "requests.a/b",
  "..",
  "a%b",
  "é",
  "\u212a",
  "\u{1f600}".repeat(40),
  "x".repeat(33),
  "x".repeat(64),
  "x".repeat(254),
  `${"é".repeat(64)}`,
  "x".repeat(129),
  "x".repeat(257),
  "01234567-89ab-cdef-0123-456789abcdef",
  "01234567-89AB-cdef-0123-456789abcdef",
];
const discriminators = ["Approved", "Denied", "Approved", "Denied", "Exempt", "Limited", "Queue", "Reject"];
const integers = [0, 1, -1, 2, 5, 1000, 1001, 1_000_000_000, 1_000_000_001, 2 ** 31 - 1, -(2 ** 31)];
/** Occasional lengths of lists, near the limits of rules. */
const lengths = [0, 1, 2, 2, 3, 4, 5, 8, 9, 11, 16, 17, 33, 65, 101];

export class DeclaredObjects {
  readonly #schema: Struct;
  readonly #random: Random;
  readonly #ruled: ReadonlySet<string>;

  constructor(schema: Struct, random: Random) {
    this.#schema = schema;
    this.#random = random;
    this.#ruled = ruledStructs(schema).ruled;
  }

  next(): Part {
    return this.#struct(this.#schema);
  }

  /** A copy with some changed fields. */
  changed(object: Part): Part {
    const copy = cloneJson(object);
    this.#change(copy, this.#schema);
    return copy;
  }

  #struct(schema: Struct): Part {
    const object: Part = {};
    for (const field of schema.fields) {
      const value = this.#field(field);
      if (value !== undefined) object[field.name] = value;
    }
    return object;
  }

  #change(object: Part, schema: Struct): void {
    for (const field of schema.fields) {
      const value = object[field.name];
      const roll = this.#random(6);
      if (roll === 0) {
        const next = this.#field(field);
        if (next === undefined) delete object[field.name];
        else object[field.name] = next;
      } else if (roll > 2 && value !== undefined) this.#changeValue(value, field.type);
    }
  }

  #changeValue(value: unknown, type: Type): void {
    if (value === null) return;
    if (type.kind === "struct") this.#change(value as Part, type);
    if (type.kind === "map") for (const one of Object.values(value as Part)) this.#changeValue(one, type.values);
    if (type.kind !== "list") return;
    const list = value as unknown[];
    for (const item of list) if (this.#random(3) === 0) this.#changeValue(item, type.items);
    if (this.#random(3) === 0) list.reverse();
    if (this.#random(3) === 0 && list.length > 0) list.pop();
    if (this.#random(3) === 0) list.push(this.#value(type.items));
  }

  /** @returns undefined if the field is omitted */
  #field(field: Field): unknown {
    if (field.name === "type" && this.#random(4) > 0) return this.#pick(discriminators);
    const ruled = (field.markers ?? field.typeMarkers) !== undefined || this.#isRuled(field.type);
    if (ruled ? this.#random(8) === 0 : this.#random(5) > 0) return undefined;
    if (!ruled && !isScalar(field.type) && field.name !== "metadata") return undefined;
    const markers = field.markers?.join() ?? "";
    return this.#value(field.type, markers.includes("maxItems") || markers.includes("listMapKey"));
  }

  #isRuled(type: Type): boolean {
    if (type.kind === "struct") return this.#ruled.has(type.definition);
    if (type.kind === "list") return this.#isRuled(type.items);
    return type.kind === "map" && this.#isRuled(type.values);
  }

  #value(type: Type, limited = false): unknown {
    switch (type.kind) {
      case "struct":
        return this.#struct(type);
      case "list":
        return Array.from({ length: limited && this.#random(4) === 0 ? this.#pick(lengths) : this.#random(4) }, () =>
          this.#value(type.items),
        );
      case "map":
        return this.#map(type.values);
      case "string":
        return type.enum !== undefined && this.#random(3) > 0 ? this.#pick(type.enum) : this.#pick(texts);
      case "int32":
      case "int64":
        return this.#pick(integers);
      case "bool":
        return this.#random(2) === 0;
      default:
        return undefined;
    }
  }

  #map(values: Type): Part {
    const map: Part = {};
    for (let count = this.#random(4); count > 0; count--) {
      const value = this.#value(values);
      if (value !== undefined) setMember(map, this.#pick(texts), value);
    }
    return map;
  }

  #pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.#random(choices.length)] as Choice;
  }
}

const isScalar = ({ kind }: Type): boolean =>
  kind === "string" || kind === "int32" || kind === "int64" || kind === "bool";
