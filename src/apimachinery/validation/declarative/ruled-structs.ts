/** Finds the types with rules, so that kinds without rules are not compiled. */
import type { Struct, Type } from "../../../lib/schema/schema.ts";

interface RuledStructs {
  /**
   * Definitions of the structs below the root that have rules or contain, at any depth, a struct
   * with rules.
   */
  readonly ruled: ReadonlySet<string>;
  /** Whether a rule is not alpha. */
  readonly enforceable: boolean;
}

/** Finds the structs with rules from the root on. */
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
      const content = structIn(type);
      if (content === undefined) continue;
      const existing = holders.get(content.definition);
      if (existing === undefined) pending.push(content);
      holders.set(content.definition, (existing ?? new Set()).add(struct.definition));
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

/** The ownership of a list (`listType=atomic`) is not a validation rule. */
const isRule = (marker: string): boolean => marker !== "+k8s:listType=atomic";

function rulesOf({ fields }: Struct): string[] {
  return fields.flatMap(({ markers = [], typeMarkers = [] }) => [...markers, ...typeMarkers]).filter(isRule);
}
