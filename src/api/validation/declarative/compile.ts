/**
 * Makes checks of the markers in a schema, once for each type. Source: KEP-5073; code-generator's cmd/validation-gen.
 * In which order rules run, and which stop which, is as in the code that is generated there.
 */
import { equalFields } from "../../../lib/schema/equal.ts";
import type { Field, List, MapType, Struct, Type } from "../../../lib/schema/schema.ts";
import { type Check, inOrder, isUnset, member, runRules, type Target } from "./contract.ts";
import { eachItem, eachMapValue, keyOf, uniqueCheck } from "./list-checks.ts";
import { parseMarker } from "./marker.ts";
import { FieldMarkers, StructMarkers } from "./markers.ts";
import { ruledStructs } from "./ruled-structs.ts";

/** The rules of one kind. */
export interface DeclaredRules {
  readonly check: Check;
  /** Paths of the subresources they are for; empty text for the object itself. */
  readonly subresources: ReadonlySet<string>;
  /** Whether there are others than alpha rules, which never replace hand-written validation. */
  readonly enforceable: boolean;
}

/**
 * @returns undefined for a kind without rules
 * @throws Error for markers that are malformed or unknown: a mistake of the table
 */
export function compileRules(schema: Struct): DeclaredRules | undefined {
  const { ruled, enforceable } = ruledStructs(schema);
  if (!ruled.has(schema.definition)) return undefined;
  return { check: new Compiler(ruled).structCheck(schema), subresources: subresourcesOf(schema), enforceable };
}

function subresourcesOf({ markers = [] }: Struct): Set<string> {
  const paths = markers.map(parseMarker).filter(({ name }) => name === "supportsSubresource" || name === "isSubresource");
  const own = paths.some(({ name }) => name === "isSubresource") ? [] : [""];
  return new Set([...own, ...paths.map(({ value = "" }) => value.replace(/^\//, ""))]);
}

class Compiler {
  readonly #ruled: ReadonlySet<string>;
  /** Set before their fields are, since types may hold themselves. */
  readonly #checks = new Map<Struct, { check: Check | undefined }>();

  constructor(ruled: ReadonlySet<string>) {
    this.#ruled = ruled;
  }

  structCheck(struct: Struct): Check {
    const known = this.#checks.get(struct);
    if (known !== undefined) return (...args) => known.check?.(...args) ?? false;
    const slot: { check: Check | undefined } = { check: undefined };
    this.#checks.set(struct, slot);
    const own = new StructMarkers();
    const fields = struct.fields.flatMap((field) => this.#fieldCheck(field, own));
    const checks = [...own.checks(), ...fields];
    const check: Check = (operation, path, value, old) => {
      for (const one of checks) one(operation, path, value, old);
      return false;
    };
    slot.check = check;
    return check;
  }

  #fieldCheck(field: Field, holder: StructMarkers): Check[] {
    const target = targetOfField(field);
    const markers = new FieldMarkers(field.name, target, holder.of(field.embedded?.definition ?? ""));
    markers.read(field.markers ?? []);
    const rules = inOrder(markers.rules.filter(({ cohort }) => cohort === ""));
    const cohorts = [...Map.groupBy(markers.rules, ({ cohort }) => cohort)].filter(([name]) => name !== "").map(([, list]) => inOrder(list));
    const inner = markers.opaque ? undefined : this.#inner(field, markers);
    if (markers.rules.every(({ silent }) => silent === true) && inner === undefined) return [];
    const { name, type, pointer } = field;
    const absent = type.kind === "struct" && !pointer ? emptyStruct : undefined; // Structs are always there.
    return [
      (operation, path, holderValue, oldHolder) => {
        const value = member(holderValue, name);
        const before = member(oldHolder, name);
        if (operation.update && !isUnset(oldHolder) && equalFields(value, before, field)) return false;
        const at = path === "" ? name : `${path}.${name}`;
        const present = value ?? absent;
        const old = before ?? (isUnset(oldHolder) ? undefined : absent);
        if (runRules(rules, operation, at, present, old)) return false;
        for (const cohort of cohorts) runRules(cohort, operation, at, present, old);
        if (inner !== undefined && !isUnset(present)) inner(operation, at, present, old);
        return false;
      },
    ];
  }

  /** What is asked of the field's type, and of what it holds. */
  #inner(field: Field, markers: FieldMarkers): Check | undefined {
    const typed = new FieldMarkers(field.name, targetOfField(field), undefined);
    typed.read(field.typeMarkers ?? []);
    const own = inOrder(typed.rules);
    const checks = [
      ...(own.length === 0 ? [] : [(...[operation, path, value, old]: Parameters<Check>) => runRules(own, operation, path, value, old)]),
      ...this.#held(field.type, markers),
    ];
    if (checks.length < 2) return checks[0];
    return (operation, path, value, old) => {
      for (const check of checks) check(operation, path, value, old);
      return false;
    };
  }

  #held(type: Type, markers: FieldMarkers): Check[] {
    switch (type.kind) {
      case "struct":
        return this.#ruled.has(type.definition) ? [this.structCheck(type)] : [];
      case "list":
        return this.#items(type, markers);
      case "map":
        return this.#values(type);
      default:
        return [];
    }
  }

  #items(list: List, { list: said }: FieldMarkers): Check[] {
    const key = said && keyOf(list, said);
    const unique = key === undefined || said === undefined || said.custom ? [] : [uniqueCheck(list, key, said.level)];
    const items = this.#held(list.items, unsaid(list.items)).map((check) => eachItem(list, key, check));
    return [...unique, ...items];
  }

  #values(map: MapType): Check[] {
    return this.#held(map.values, unsaid(map.values)).map((check) => eachMapValue(map, check));
  }
}

/** Of what a list or a map holds, nothing is said in the place where it is held. */
const unsaid = (type: Type): FieldMarkers => new FieldMarkers("", { type, pointer: false }, undefined);

const emptyStruct: object = Object.freeze({});

function targetOfField(field: Field): Target {
  return { type: field.type, pointer: field.pointer, ...("default" in field && { default: field.default }) };
}
