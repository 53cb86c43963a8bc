/**
 * The messages of a schema: fields by number, with embedded structs as nested messages. Created
 * once per schema.
 * Source: Protocol Buffers, "Encoding".
 */
import type { Any, Embedding, Field, List, MapType, ScalarKind, Struct, Type } from "../schema/schema.ts";
import { wire } from "./reader.ts";

/** How a value is encoded. */
type ValueKind =
  | ScalarKind
  | "message"
  /**
   * A message that contains a list of strings (ExtraValue, Verbs), so that absent and empty lists
   * differ.
   */
  | "texts"
  /** A message that contains JSON text. */
  | "json"
  /** The same, of managed fields (FieldsV1). */
  | "fieldSet"
  /** Values with several forms in JSON schema. */
  | "schemaOrSchemas"
  | "schemaOrTexts"
  | "schemaOrBool";

/** The encoding of a value. */
export class ValuePlan {
  readonly kind: ValueKind;
  /** The wire type of one value. */
  readonly wire: number;
  readonly #struct: Struct | undefined;
  #message: MessagePlan | undefined;

  constructor(kind: ValueKind, message: Struct | MessagePlan | undefined) {
    this.kind = kind;
    this.wire = wireTypes[kind] ?? wire.bytes;
    this.#struct = message instanceof MessagePlan ? undefined : message;
    this.#message = message instanceof MessagePlan ? message : undefined;
  }

  /**
   * The plan of a message, or of a schema; created at first use, because types may be recursive.
   */
  get message(): MessagePlan {
    this.#message ??= messagePlan(this.#struct as Struct);
    return this.#message;
  }
}

const wireTypes: Readonly<Record<string, number>> = {
  bool: wire.varint,
  int32: wire.varint,
  int64: wire.varint,
  double: wire.fixed64,
};

/** One field of a message. */
export interface Slot {
  readonly number: number;
  /** The tag that precedes each of its values. */
  readonly tag: number;
  readonly shape: "single" | "repeated" | "map" | "embedded";
  /**
   * The name in JSON; empty for an embedded struct, whose fields belong to the outer object there.
   */
  readonly name: string;
  /** The name of the field in Go. */
  readonly goName: string;
  /** Whether absence differs from the zero value. */
  readonly pointer: boolean;
  /** The encoding of the value, or of the elements of a list or map. */
  readonly value: ValuePlan;
}

const smallNumbers = 64;

/** The fields of a message. */
export class MessagePlan {
  /** The name of the type in Go, such as `ConfigMap`. */
  readonly name: string;
  /** By number, ascending. */
  readonly slots: readonly Slot[];
  /** By number; of small numbers, which nearly all are. */
  readonly #small: readonly (Slot | undefined)[];
  readonly #byNumber: ReadonlyMap<number, Slot>;

  constructor(name: string, slots: readonly Slot[]) {
    this.name = name;
    this.slots = [...slots].sort((a, b) => a.number - b.number);
    this.#byNumber = new Map(this.slots.map((slot) => [slot.number, slot]));
    this.#small = Array.from({ length: smallNumbers }, (_, number) => this.#byNumber.get(number));
  }

  /** The field with a number; undefined for an unknown one. */
  slot(number: number): Slot | undefined {
    return number >= 0 && number < smallNumbers ? this.#small[number] : this.#byNumber.get(number);
  }
}

// Depends on the schema alone, and is garbage-collected with it.
const plans = new WeakMap<Struct, MessagePlan>();

/** The plan of a struct's message. */
export function messagePlan(struct: Struct): MessagePlan {
  let plan = plans.get(struct);
  if (plan === undefined) {
    const members = struct.fields.map((field) => ({ field, chain: chainOf(field.embedded) }));
    plan = planOf(lastWord(struct.goType), members);
    plans.set(struct, plan);
  }
  return plan;
}

/** A field, and the structs between it and the current message that embed it, outermost first. */
interface Member {
  readonly field: Field;
  readonly chain: readonly Embedding[];
}

function chainOf(embedding: Embedding | undefined): Embedding[] {
  return embedding === undefined ? [] : [...chainOf(embedding.outer), embedding];
}

function planOf(name: string, members: readonly Member[]): MessagePlan {
  const slots: Slot[] = [];
  const embedded = new Map<string, { embedding: Embedding; members: Member[] }>();
  for (const { field, chain } of members) {
    const [embedding, ...rest] = chain;
    if (embedding === undefined) {
      if (field.protobuf !== undefined) slots.push(slotOf(field, field.protobuf));
      continue;
    }
    const group = embedded.get(embedding.name) ?? { embedding, members: [] };
    embedded.set(embedding.name, group);
    group.members.push({ field, chain: rest });
  }
  for (const { embedding, members } of embedded.values()) {
    if (embedding.protobuf === undefined) continue;
    const value = new ValuePlan("message", planOf(embedding.name, members));
    const { number } = embedding.protobuf;
    slots.push({
      number,
      tag: number * 8 + wire.bytes,
      shape: "embedded",
      name: "",
      goName: embedding.name,
      pointer: false,
      value,
    });
  }
  return new MessagePlan(name, slots);
}

function slotOf({ name, type, pointer }: Field, { number, type: protobufType }: NonNullable<Field["protobuf"]>): Slot {
  const repeated = type.kind === "list" && protobufType.startsWith("repeated ");
  const shape = repeated ? "repeated" : type.kind === "map" ? "map" : "single";
  const value = valuePlan(shape === "single" ? type : elementType(type as List | MapType));
  const wireType = shape === "map" ? wire.bytes : value.wire;
  return { number, tag: number * 8 + wireType, shape, name, goName: goNameOf(name, type), pointer, value };
}

function elementType(type: List | MapType): Type {
  return type.kind === "list" ? type.items : type.values;
}

function valuePlan(type: Type): ValuePlan {
  switch (type.kind) {
    case "struct":
      return new ValuePlan("message", type);
    case "list":
      return new ValuePlan("texts", undefined);
    case "any":
      return anyPlan(type);
    case "map":
      throw new TypeError("a map is never a value of a list or a map in protobuf");
    default:
      return new ValuePlan(type.kind, undefined);
  }
}

function anyPlan({ definition, forms = [] }: Any): ValuePlan {
  const schema = forms.find((form): form is Struct => form.kind === "struct");
  if (schema === undefined) return new ValuePlan(definition.endsWith(".FieldsV1") ? "fieldSet" : "json", undefined);
  const list = forms.find((form): form is List => form.kind === "list");
  if (list === undefined) return new ValuePlan("schemaOrBool", schema);
  return new ValuePlan(list.items.kind === "string" ? "schemaOrTexts" : "schemaOrSchemas", schema);
}

/** Words that are capitalized in Go when a name begins with them. */
const capitals =
  /^(?:api|aws|cel|cidr|csi|dns|fc|fs|gce|gmsa|grpc|http|id|ip|iqn|iscsi|json|nfs|os|pd|rbd|ssl|tls|tty|uid)(?=s?(?:[A-Z]|$))/;

/**
 * The name of a field in Go, derived from its JSON name because schemas lack it. Used in messages
 * only.
 */
function goNameOf(name: string, type: Type): string {
  if (name === "metadata" && type.kind === "struct") return lastWord(type.goType);
  const word = capitals.exec(name)?.[0];
  if (word !== undefined) return word.toUpperCase() + name.slice(word.length);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function lastWord(goType: string): string {
  return goType.slice(goType.lastIndexOf(".") + 1);
}
