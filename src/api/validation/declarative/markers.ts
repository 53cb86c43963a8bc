/** Collects what the markers of a field, and those of all fields of a struct together, ask for. Source: code-generator's cmd/validation-gen/validators. */
import type { RuleLevel } from "../../field-errors.ts";
import { type Check, equalTargets, inOrder, isSet, isUnset, member, type Rule, type Target } from "./contract.ts";
import {
  eachItem,
  eachMapKey,
  eachMapValue,
  itemCheck,
  keyOf,
  type ListRules,
  listOf,
  matches,
  type Selector,
  selectorText,
  targetOf,
} from "./list-checks.ts";
import { type Marker, parseMarker } from "./marker.ts";
import { discriminatedMemberCheck, discriminatedUnionCheck, type Union, type UnionMember, unionCheck } from "./unions.ts";
import { updateRule, valueRules } from "./value-checks.ts";

type PlainRule = Omit<Rule, "cohort">;

interface MemberRule {
  readonly value: string;
  readonly level: RuleLevel;
  readonly rules: readonly PlainRule[];
}

interface StateGroup {
  discriminator: { readonly name: string; readonly target: Target } | undefined;
  readonly members: Map<string, { readonly target: Target; readonly rules: MemberRule[] }>;
}

/** Rules about several fields of one struct; those of an embedded one are apart. */
class HolderMarkers {
  readonly unions = new Map<string, Union>();
  readonly zeroOrOneOf = new Map<string, Union>();
  readonly states = new Map<string, StateGroup>();

  checks(): Check[] {
    return [...byName(this.states).flatMap(stateChecks), ...byName(this.unions).map(unionOf), ...byName(this.zeroOrOneOf).map(atMostOne)];
  }
}

const byName = <Value>(map: ReadonlyMap<string, Value>): Value[] => [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);

const unionOf = (union: Union): Check =>
  union.discriminator === undefined ? unionCheck(union, "refused") : discriminatedUnionCheck(union, union.discriminator);

const atMostOne = (union: Union): Check => unionCheck(union, "allowed");

function stateChecks({ discriminator, members }: StateGroup): Check[] {
  if (discriminator === undefined) throw new Error("a field depends on a discriminator that is not there");
  return [...members]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { target, rules }]) => {
      const values = Map.groupBy(rules, ({ value }) => value);
      const levels = new Set(rules.map(({ level }) => level));
      const [level = "standard"] = levels.size === 1 ? levels : [];
      const otherwise = rulesOf("forbidden", target, level).slice(0, 1).map(inNoCohort);
      const flat = [...values].map(([value, list]) => [value, inOrder(list.flatMap((one) => one.rules).map(inNoCohort))] as const);
      return discriminatedMemberCheck(discriminator, { name, target, rules: new Map(flat), otherwise });
    });
}

const inNoCohort = (rule: PlainRule): Rule => ({ ...rule, cohort: "" });

export class StructMarkers {
  readonly #holders = new Map<string, HolderMarkers>();

  /** @param embedded the definition of the embedded struct, empty for the struct's own fields */
  of(embedded: string): HolderMarkers {
    const holder = this.#holders.get(embedded) ?? new HolderMarkers();
    this.#holders.set(embedded, holder);
    return holder;
  }

  checks(): Check[] {
    return [...this.#holders.values()].flatMap((holder) => holder.checks());
  }
}

/** What is read of one marker depends on where it is. */
interface Place {
  readonly target: Target;
  readonly level: RuleLevel;
  /** Of the item that an `item` marker around it selects. */
  readonly selector?: Selector;
}

export class FieldMarkers {
  readonly rules: Rule[] = [];
  list: ListRules | undefined;
  /** What the type says does not count. */
  opaque = false;
  readonly #name: string;
  readonly #target: Target;
  readonly #holder: HolderMarkers | undefined;
  readonly #itemUnions = new HolderMarkers();
  readonly #updates: string[] = [];
  #updateLevel: RuleLevel = "standard";

  /** @param holder takes the rules about several fields; undefined where there is no struct around */
  constructor(name: string, target: Target, holder: HolderMarkers | undefined) {
    this.#name = name;
    this.#target = target;
    this.#holder = holder;
  }

  /** @throws Error for a malformed or unknown marker */
  read(texts: readonly string[]): void {
    const markers = texts.map(parseMarker).sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1));
    const place: Place = { target: this.#target, level: "standard" };
    for (const marker of [...markers.filter(isEarly), ...markers.filter((one) => !isEarly(one))]) this.rules.push(...this.#rulesOf(marker, place));
    if (this.#updates.length > 0) this.rules.push(inNoCohort(updateRule(this.#target, this.#updateLevel, this.#updates)));
    for (const check of this.#itemUnions.checks()) this.rules.push({ check, stops: false, cohort: "" });
  }

  #rulesOf(marker: Marker, place: Place): Rule[] {
    const { name, inner, value = "" } = marker;
    if (inner !== undefined) return this.#wrapped(name, marker, inner, place);
    if (this.#readStructure(marker, place)) return [];
    return rulesOf(name, place.target, place.level, value).map(inNoCohort);
  }

  /** Markers that say something about others. @returns false for those that are rules */
  #readStructure({ name, value = "", args }: Marker, { target, level, selector }: Place): boolean {
    switch (name) {
      case "listType":
      case "unique":
        if (value !== "atomic" && value !== "set" && value !== "map") throw new Error(`no list type ${value}`);
        this.#listRules().level = level;
        if (value !== "atomic") this.#listRules().semantic = value;
        return true;
      case "listMapKey":
        this.#listRules().keys.push(value);
        return true;
      case "customUnique":
        this.#listRules().custom = true;
        return true;
      case "opaqueType":
        this.opaque = true;
        return true;
      case "update":
        this.#updates.push(value);
        this.#updateLevel = level;
        return true;
      case "unionMember":
      case "zeroOrOneOfMember":
        this.#addMember(name === "unionMember" ? "unions" : "zeroOrOneOf", String(args.get("union") ?? ""), args.get("memberName"), level, selector);
        return true;
      case "unionDiscriminator":
        this.#union("unions", String(args.get("union") ?? ""), level).discriminator = { name: this.#name, target };
        return true;
      case "discriminator":
        this.#group(String(args.get("name") ?? "")).discriminator = { name: this.#name, target };
        return true;
      default:
        return false;
    }
  }

  #wrapped(name: string, { args }: Marker, inner: Marker, place: Place): Rule[] {
    const { target, level } = place;
    const argument = String(args.get("") ?? "");
    switch (name) {
      case "alpha":
      case "beta":
        return this.#rulesOf(inner, { ...place, level: name });
      case "ifEnabled":
      case "ifDisabled": {
        const enabled = name === "ifEnabled";
        return this.#rulesOf(inner, place).map(({ check, ...rule }) => ({
          ...rule,
          check: (operation, ...rest) => operation.hasOption(argument) === enabled && check(operation, ...rest),
        }));
      }
      case "eachVal":
        return this.#eachValue(inner, place);
      case "eachKey":
        return this.#rulesOf(inner, { target: { type: { kind: "string" }, pointer: false }, level }).map(({ check, ...rule }) => ({
          ...rule,
          check: eachMapKey(check),
        }));
      case "subfield":
        return this.#subfield(argument, inner, place);
      case "item":
        return this.#item(args, inner, place);
      case "member":
        this.#addState(String(args.get("discriminator") ?? ""), String(args.get("value") ?? argument), level, this.#rulesOf(inner, place), target);
        return [];
      default:
        throw new Error(`unknown marker +k8s:${name}`);
    }
  }

  #eachValue(inner: Marker, { target: { type }, level }: Place): Rule[] {
    if (type.kind !== "list" && type.kind !== "map") throw new Error("eachVal is for lists and maps");
    const held = type.kind === "list" ? type.items : type.values;
    const key = type.kind === "list" && this.list !== undefined ? keyOf(type, this.list) : undefined;
    return this.#rulesOf(inner, { target: { type: held, pointer: false }, level }).map(({ check, ...rule }) => ({
      ...rule,
      check: type.kind === "list" ? eachItem(type, key, check) : eachMapValue(type, check),
    }));
  }

  #subfield(name: string, inner: Marker, { target, level }: Place): Rule[] {
    const field = targetOf(target.type, name);
    return this.#rulesOf(inner, { target: field, level }).map(({ check, stops }) => ({
      stops,
      cohort: name,
      check: (operation, path, value, old) => {
        const next = member(value, name);
        const before = member(old, name);
        if (operation.update && !isUnset(old) && equalTargets(next, before, field)) return false;
        return check(operation, path === "" ? name : `${path}.${name}`, next, before);
      },
    }));
  }

  #item(selector: Selector, inner: Marker, { target: { type }, level }: Place): Rule[] {
    if (type.kind !== "list") throw new Error("item is for lists");
    return this.#rulesOf(inner, { target: { type: type.items, pointer: false }, level, selector }).map(({ check, stops }) => ({
      stops,
      cohort: selectorText(selector),
      check: itemCheck(type, selector, check),
    }));
  }

  #addMember(kind: "unions" | "zeroOrOneOf", union: string, value: unknown, level: RuleLevel, selector: Selector | undefined): void {
    const { members } = this.#union(kind, union, level, selector);
    members.push(selector === undefined ? this.#fieldMember(value) : this.#itemMember(selector));
  }

  #fieldMember(value: unknown): UnionMember {
    const name = this.#name;
    const target = this.#target;
    return { name, value: String(value ?? `${name[0]?.toUpperCase()}${name.slice(1)}`), isSet: (holder) => isSet(member(holder, name), target) };
  }

  #itemMember(selector: Selector): UnionMember {
    const { type } = this.#target;
    if (type.kind !== "list") throw new Error("item is for lists");
    const isWanted = matches(type, selector);
    return { name: `${this.#name}[${selectorText(selector)}]`, value: "", isSet: (list) => listOf(list).some(isWanted) };
  }

  #union(kind: "unions" | "zeroOrOneOf", name: string, level: RuleLevel, selector?: Selector): Union {
    const unions = (selector === undefined ? this.#structMarkers() : this.#itemUnions)[kind];
    const union = unions.get(name) ?? { members: [], discriminator: undefined, level };
    union.level = level;
    unions.set(name, union);
    return union;
  }

  #group(name: string): StateGroup {
    const { states } = this.#structMarkers();
    const group = states.get(name) ?? { discriminator: undefined, members: new Map() };
    states.set(name, group);
    return group;
  }

  #addState(group: string, value: string, level: RuleLevel, rules: readonly Rule[], target: Target): void {
    const { members } = this.#group(group);
    const known = members.get(this.#name) ?? { target, rules: [] };
    known.rules.push({ value, level, rules });
    members.set(this.#name, known);
  }

  #structMarkers(): HolderMarkers {
    if (this.#holder === undefined) throw new Error("a marker about several fields is at none");
    return this.#holder;
  }

  #listRules(): ListRules {
    this.list ??= { semantic: "atomic", keys: [], custom: false, level: "standard" };
    return this.list;
  }
}

/** Those of a list are asked by others, which are read after them. */
const isEarly = ({ name }: Marker): boolean => !lateMarkers.has(name);
const lateMarkers: ReadonlySet<string> = new Set(["alpha", "beta", "eachVal", "item"]);

/** @throws Error for an unknown marker */
function rulesOf(name: string, target: Target, level: RuleLevel, value = ""): readonly PlainRule[] {
  const make = valueRules.get(name);
  if (make === undefined) throw new Error(`unknown marker +k8s:${name}`);
  return make(target, level, value);
}
