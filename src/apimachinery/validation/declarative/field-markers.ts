/**
 * Compiles the markers of a field or type to rules. Source:
 * k8s.io/code-generator@v0.36.0/cmd/validation-gen/validators.
 */
import type { RuleLevel } from "../../field-errors.ts";
import { type Check, equalTargets, isSet, isUnset, member, type Rule, type Target } from "./contract.ts";
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
import { groupNamed, noStructRules, type StructRules, structChecks, unionNamed } from "./struct-rules.ts";
import type { UnionMember } from "./unions.ts";
import { rulesNamed, updateRule } from "./value-checks.ts";

/** The field that markers apply to. */
interface MarkedField {
  readonly name: string;
  readonly target: Target;
  /** Collects the rules for several fields of the struct; undefined outside a struct. */
  readonly holder: StructRules | undefined;
}

/** The compiled markers of a field. */
export interface FieldMarkers {
  readonly rules: readonly Rule[];
  /** The rules of the list; undefined if there are none. */
  readonly list: ListRules | undefined;
  /** The rules of the type do not apply. */
  readonly opaque: boolean;
}

/** The state while the markers of a field are read. */
interface Reading extends MarkedField {
  list: ListRules | undefined;
  opaque: boolean;
  readonly updates: string[];
  updateLevel: RuleLevel;
  /** Unions of the items of the field's list. */
  readonly items: StructRules;
}

/** The context of a marker, which the markers around it set. */
interface Place {
  readonly target: Target;
  readonly level: RuleLevel;
  /** The selector of the `item` marker around it. */
  readonly selector?: Selector;
}

/** Markers that depend on the list rules of other markers, and are read after them. */
const lateMarkers: ReadonlySet<string> = new Set(["alpha", "beta", "eachVal", "item"]);

/**
 * Compiles the markers of a field.
 *
 * @throws Error for a malformed or unknown marker
 */
export function readMarkers(texts: readonly string[], field: MarkedField): FieldMarkers {
  const reading: Reading = {
    ...field,
    list: undefined,
    opaque: false,
    updates: [],
    updateLevel: "standard",
    items: noStructRules(),
  };
  const place: Place = { target: field.target, level: "standard" };
  const sorted = texts.map(parseMarker).sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1));
  const isLate = ({ name }: Marker): boolean => lateMarkers.has(name);
  const rules = [...sorted.filter((one) => !isLate(one)), ...sorted.filter(isLate)].flatMap((marker) =>
    rulesOf(reading, marker, place),
  );
  if (reading.updates.length > 0) rules.push(updateRule(field.target, reading.updateLevel, reading.updates));
  for (const check of structChecks(reading.items)) rules.push({ check, stops: false, cohort: "" });
  return { rules, list: reading.list, opaque: reading.opaque };
}

function rulesOf(reading: Reading, marker: Marker, place: Place): Rule[] {
  const { name, inner, value = "" } = marker;
  if (inner !== undefined) return wrappedRules(reading, marker, inner, place);
  if (readStructure(reading, marker, place)) return [];
  return [...rulesNamed(name, place, value)];
}

/**
 * Reads a marker that describes the field instead of being a rule.
 *
 * @returns false for a rule
 */
function readStructure(reading: Reading, { name, value = "", args }: Marker, place: Place): boolean {
  const union = String(args.get("union") ?? "");
  switch (name) {
    case "listType":
    case "unique":
      readSemantic(listRules(reading), value, place.level);
      return true;
    case "listMapKey":
      listRules(reading).keys.push(value);
      return true;
    case "customUnique":
      listRules(reading).custom = true;
      return true;
    case "opaqueType":
      reading.opaque = true;
      return true;
    case "update":
      reading.updates.push(value);
      reading.updateLevel = place.level;
      return true;
    case "unionMember":
      addMember(reading, "unions", union, args.get("memberName"), place);
      return true;
    case "zeroOrOneOfMember":
      addMember(reading, "zeroOrOneOf", union, args.get("memberName"), place);
      return true;
    case "unionDiscriminator":
      unionNamed(holderOf(reading).unions, union, place.level).discriminator = {
        name: reading.name,
        target: place.target,
      };
      return true;
    case "discriminator":
      groupNamed(holderOf(reading), String(args.get("name") ?? "")).discriminator = {
        name: reading.name,
        target: place.target,
      };
      return true;
    default:
      return false;
  }
}

function readSemantic(list: ListRules, semantic: string, level: RuleLevel): void {
  if (semantic !== "atomic" && semantic !== "set" && semantic !== "map") throw new Error(`no list type ${semantic}`);
  list.level = level;
  if (semantic !== "atomic") list.semantic = semantic;
}

/** Compiles a marker whose value is another marker. */
function wrappedRules(reading: Reading, { name, args }: Marker, inner: Marker, place: Place): Rule[] {
  const { target, level } = place;
  const argument = String(args.get("") ?? "");
  const text: Target = { type: { kind: "string" }, pointer: false };
  switch (name) {
    case "alpha":
    case "beta":
      return rulesOf(reading, inner, { ...place, level: name });
    case "ifEnabled":
      return around(
        rulesOf(reading, inner, place),
        (check) =>
          (operation, ...rest) =>
            operation.hasOption(argument) && check(operation, ...rest),
      );
    case "ifDisabled":
      return around(
        rulesOf(reading, inner, place),
        (check) =>
          (operation, ...rest) =>
            !operation.hasOption(argument) && check(operation, ...rest),
      );
    case "eachVal":
      return eachValue(reading, inner, place);
    case "eachKey":
      return around(rulesOf(reading, inner, { target: text, level }), eachMapKey);
    case "subfield":
      return subfieldRules(reading, argument, inner, place);
    case "item":
      return itemRules(reading, args, inner, place);
    case "member": {
      const { members } = groupNamed(holderOf(reading), String(args.get("discriminator") ?? ""));
      const existing = members.get(reading.name) ?? { target, rules: [] };
      existing.rules.push({
        value: String(args.get("value") ?? argument),
        level,
        rules: rulesOf(reading, inner, place),
      });
      members.set(reading.name, existing);
      return [];
    }
    default:
      throw new Error(`unknown marker +k8s:${name}`);
  }
}

/** @returns the rules with wrapped checks */
function around(rules: readonly Rule[], make: (check: Check) => Check): Rule[] {
  return rules.map((rule) => ({ ...rule, check: make(rule.check) }));
}

function eachValue(reading: Reading, inner: Marker, { target: { type }, level }: Place): Rule[] {
  if (type.kind !== "list" && type.kind !== "map") throw new Error("eachVal is for lists and maps");
  const held: Target = { type: type.kind === "list" ? type.items : type.values, pointer: false };
  const key = type.kind === "list" && reading.list !== undefined ? keyOf(type, reading.list) : undefined;
  const make = (check: Check): Check => (type.kind === "list" ? eachItem(type, key, check) : eachMapValue(type, check));
  return around(rulesOf(reading, inner, { target: held, level }), make);
}

function subfieldRules(reading: Reading, name: string, inner: Marker, { target, level }: Place): Rule[] {
  const field = targetOf(target.type, name);
  const make =
    (check: Check): Check =>
    (operation, path, value, old) => {
      const next = member(value, name);
      const before = member(old, name);
      if (operation.update && !isUnset(old) && equalTargets(next, before, field)) return false;
      return check(operation, path === "" ? name : `${path}.${name}`, next, before);
    };
  return around(rulesOf(reading, inner, { target: field, level }), make).map((rule) => ({ ...rule, cohort: name }));
}

function itemRules(reading: Reading, selector: Selector, inner: Marker, { target: { type }, level }: Place): Rule[] {
  if (type.kind !== "list") throw new Error("item is for lists");
  const rules = rulesOf(reading, inner, { target: { type: type.items, pointer: false }, level, selector });
  return around(rules, (check) => itemCheck(type, selector, check)).map((rule) => ({
    ...rule,
    cohort: selectorText(selector),
  }));
}

function addMember(
  reading: Reading,
  kind: "unions" | "zeroOrOneOf",
  union: string,
  value: unknown,
  { level, selector }: Place,
): void {
  const holder = selector === undefined ? holderOf(reading) : reading.items;
  const { members } = unionNamed(holder[kind], union, level);
  members.push(selector === undefined ? fieldMember(reading, value) : itemMember(reading, selector));
}

/** @param value of the discriminator; the Go name of the field by default */
function fieldMember({ name, target }: Reading, value: unknown): UnionMember {
  const goName = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { name, value: String(value ?? goName), isSet: (holder) => isSet(member(holder, name), target) };
}

function itemMember({ name, target: { type } }: Reading, selector: Selector): UnionMember {
  if (type.kind !== "list") throw new Error("item is for lists");
  const isSelected = matches(type, selector);
  return { name: `${name}[${selectorText(selector)}]`, value: "", isSet: (list) => listOf(list).some(isSelected) };
}

function holderOf({ holder }: Reading): StructRules {
  if (holder === undefined) throw new Error("a marker for several fields is outside a struct");
  return holder;
}

function listRules(reading: Reading): ListRules {
  reading.list ??= { semantic: "atomic", keys: [], custom: false, level: "standard" };
  return reading.list;
}
