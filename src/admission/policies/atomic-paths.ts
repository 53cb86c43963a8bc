/**
 * Finds what an apply configuration must not contain. Source: `findAtomics` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/mutating/patch/smd.go.
 */
import { isObject } from "../../lib/json/values.ts";
import type { Type } from "../../lib/structured-merge/index.ts";

/**
 * Returns the paths of atomic lists, maps and structs, such as `.spec.selector`, in the declared
 * fields of a value. Values of maps are not searched.
 */
export function atomicPaths(value: unknown, type: Type): string[] {
  const found: string[] = [];
  collect(value, type, "", found);
  return found;
}

function collect(value: unknown, type: Type, path: string, found: string[]): void {
  if (isObject(value) && (type.kind === "struct" || type.kind === "map")) {
    if (type.atomic) found.push(path);
    if (type.kind === "map") return;
    for (const [name, part] of Object.entries(value)) {
      const field = type.byName.get(name);
      if (field !== undefined) collect(part, field.type, `${path}.${name}`, found);
    }
  }
  if (type.kind === "any") collectData(value, { path, isAtomic: type.definition !== "" }, found);
  if (Array.isArray(value) && type.kind === "list") {
    if (type.listType === "atomic") found.push(path);
    for (const [index, item] of value.entries()) collect(item, type.items, `${path}[${index}]`, found);
  }
}

/** Lists of any type are atomic, and so is everything in them. */
function collectData(value: unknown, { path, isAtomic }: { path: string; isAtomic: boolean }, found: string[]): void {
  if (Array.isArray(value) || (isAtomic && isObject(value))) found.push(path);
  if (!Array.isArray(value)) return;
  for (const [index, item] of value.entries()) collectData(item, { path: `${path}[${index}]`, isAtomic: true }, found);
}
