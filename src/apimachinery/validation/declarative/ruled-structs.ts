/** Which types have rules: a kind without any costs nothing. */
import type { Struct, Type } from "../../../lib/schema/schema.ts";

export interface RuledStructs {
  /** The definitions of the structs, from the root on, that have rules or hold, however deep, one that has. */
  readonly ruled: ReadonlySet<string>;
  /** Whether any of the rules is not alpha. */
  readonly enforceable: boolean;
}

export function ruledStructs(root: Struct): RuledStructs {
  const holders = new Map<string, Set<string>>();
  const ruled: string[] = [];
  let enforceable = false;
  const pending: Struct[] = [root];
  holders.set(root.definition, new Set());
  for (let struct = pending.pop(); struct !== undefined; struct = pending.pop()) {
    const rules = rulesOf(struct);
    if (rules.length > 0) ruled.push(struct.definition);
    enforceable ||= rules.some((rule) => !rule.startsWith("+k8s:alpha("));
    for (const { type } of struct.fields) {
      const held = structIn(type);
      if (held === undefined) continue;
      const known = holders.get(held.definition);
      if (known === undefined) pending.push(held);
      holders.set(held.definition, (known ?? new Set()).add(struct.definition));
    }
  }
  const found = new Set(ruled);
  for (let definition = ruled.pop(); definition !== undefined; definition = ruled.pop()) {
    for (const holder of holders.get(definition) ?? []) {
      if (found.has(holder)) continue;
      found.add(holder);
      ruled.push(holder);
    }
  }
  return { ruled: found, enforceable };
}

function structIn(type: Type): Struct | undefined {
  if (type.kind === "struct") return type;
  if (type.kind === "list") return structIn(type.items);
  return type.kind === "map" ? structIn(type.values) : undefined;
}

/** Who owns a list is no rule. */
const isRule = (marker: string): boolean => marker !== "+k8s:listType=atomic";

function rulesOf({ fields }: Struct): string[] {
  return fields.flatMap(({ markers = [], typeMarkers = [] }) => [...markers, ...typeMarkers]).filter(isRule);
}
