/**
 * The parts of a schema that the decoder needs, as flat nodes that are linked lazily because types
 * may be recursive.
 */
import type { Field, Struct, Type } from "./schema.ts";

/** The decoding plan of a type. */
export class DecodeNode {
  readonly kind: Type["kind"];
  readonly type: Type;
  /** Names of the Go type and of its elements, where they do not follow from the type. */
  readonly goTypes: readonly string[];
  #struct: StructPlan | undefined;
  #element: DecodeNode | undefined;
  #forms: readonly DecodeNode[] | undefined;

  constructor(type: Type, goTypes: readonly string[]) {
    this.kind = type.kind;
    this.type = type;
    this.goTypes = goTypes;
  }

  /** The plan of a struct. */
  get struct(): StructPlan {
    this.#struct ??= structPlan(this.type as Struct);
    return this.#struct;
  }

  /** The plan of the elements of a list or map. */
  get element(): DecodeNode {
    this.#element ??= new DecodeNode(elementType(this.type), this.goTypes.slice(1));
    return this.#element;
  }

  /** The typed forms of an Any. */
  get forms(): readonly DecodeNode[] {
    this.#forms ??= (this.type.kind === "any" ? (this.type.forms ?? []) : []).map((form) => new DecodeNode(form, []));
    return this.#forms;
  }
}

/** The decoding plan of a struct's field. */
export class FieldPlan {
  readonly name: string;
  readonly pointer: boolean;
  /** The path from the struct to the field in Go: the structs that embed it, then its name. */
  readonly goPath: readonly string[];
  /** Go name of the struct, without its package. */
  readonly goStruct: string;
  readonly #field: Field;
  #node: DecodeNode | undefined;

  constructor(field: Field, goStruct: string) {
    this.name = field.name;
    this.pointer = field.pointer;
    this.goStruct = goStruct;
    const path = [field.name];
    for (let embedding = field.embedded; embedding !== undefined; embedding = embedding.outer)
      path.unshift(embedding.name);
    this.goPath = path;
    this.#field = field;
  }

  get node(): DecodeNode {
    this.#node ??= new DecodeNode(this.#field.type, this.#field.goTypes ?? []);
    return this.#node;
  }
}

/** The decoding plan of a struct. */
export class StructPlan {
  readonly preserveUnknown: boolean;
  readonly fields: ReadonlyMap<string, FieldPlan>;

  constructor(struct: Struct) {
    this.preserveUnknown = struct.preserveUnknown;
    const goStruct = struct.goType.slice(struct.goType.lastIndexOf(".") + 1);
    this.fields = new Map(struct.fields.map((field) => [field.name, new FieldPlan(field, goStruct)]));
  }
}

// Depends on the schema alone, and is garbage-collected with it.
const plans = new WeakMap<Struct, StructPlan>();

/** The decoding plan of a struct, created once per schema. */
export function structPlan(struct: Struct): StructPlan {
  let plan = plans.get(struct);
  if (plan === undefined) {
    plan = new StructPlan(struct);
    plans.set(struct, plan);
  }
  return plan;
}

function elementType(type: Type): Type {
  if (type.kind === "list") return type.items;
  if (type.kind === "map") return type.values;
  throw new TypeError(`a ${type.kind} has no elements`);
}

/** The Go type as decoding errors print it. */
export function goTypeName(node: DecodeNode): string {
  const [name] = node.goTypes;
  if (name !== undefined) return name;
  switch (node.type.kind) {
    case "struct":
      return node.type.goType;
    case "list":
      return `[]${goTypeName(node.element)}`;
    case "map":
      return `map[string]${goTypeName(node.element)}`;
    case "any":
      return node.type.definition.split(".").slice(-2).join(".");
    default:
      return goTypeNames[node.type.kind] ?? node.type.kind;
  }
}

const goTypeNames: Readonly<Record<string, string>> = {
  bytes: "[]uint8",
  double: "float64",
  duration: "v1.Duration",
  intOrString: "intstr.IntOrString",
  microtime: "v1.MicroTime",
  quantity: "resource.Quantity",
  time: "v1.Time",
};
