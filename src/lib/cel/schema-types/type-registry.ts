/** Types of the checker for declared types: objects are called after the place where they stand, such as `selfType.spec.ports.@idx`. */
import type { SizeHints, TypeResolver } from "../declarations.ts";
import { type CelType, listType, mapType, objectType } from "../types.ts";
import { fail } from "../values/failure.ts";
import type { DeclType, ObjectDecl } from "./decl-type.ts";
import { isReserved } from "./escape.ts";

/** A registry belongs to one environment: it grows while expressions are checked, by the fields that they use. */
export interface TypeRegistry extends TypeResolver {
  /** @param name what an object without a name of its own is called, and what stands in it is called after */
  typeOf(declared: DeclType, name: string): CelType;
}

export function typeRegistry(): TypeRegistry {
  const objects = new Map<string, ObjectDecl>();
  const nameable = new Set<string>();
  const typeOf = (declared: DeclType, name: string): CelType => {
    switch (declared.kind) {
      case "scalar":
        return declared.type;
      case "list":
        return listType(typeOf(declared.element, `${name}.@idx`));
      case "map":
        return mapType(typeOf(declared.key, `${name}.@key`), typeOf(declared.element, `${name}.@elem`));
      case "object": {
        const own = declared.name ?? name;
        if (objects.get(own) !== declared) {
          objects.set(own, declared);
          if (declared.name !== undefined) declareNamed(declared, own);
        }
        return objectType(own);
      }
    }
  };
  /** Expressions may name it, and what named types are within it, before they look at it. */
  const declareNamed = (declared: ObjectDecl, name: string): void => {
    nameable.add(name);
    for (const [field, type] of declared.fields) typeOf(type, `${name}.${field}`);
  };
  return {
    typeOf,
    hasType: (name) => objects.has(name),
    isNameable: (name) => nameable.has(name),
    fieldType: (typeName, field) => {
      const fields = objects.get(typeName)?.fields;
      const type = fields?.get(field) ?? (isReserved(field) ? fields?.get(`__${field}__`) : undefined); // `self.namespace`, since 1.31.
      return type === undefined ? undefined : typeOf(type, `${typeName}.${field}`);
    },
    create: (typeName) => fail(`unknown type '${typeName}'`),
  };
}

/** Sizes of what stands below variables of this type. Source: k8s.io/apiextensions-apiserver, sizeEstimator */
export function sizeHintsOf(root: DeclType): SizeHints {
  return {
    estimateSize: ({ path }) => {
      if (path === undefined || path.length === 0) return undefined;
      const found = path.slice(1).reduce<DeclType | undefined>((at, part) => at && within(at, part), root);
      if (found === undefined) return undefined;
      return { min: 0n, max: BigInt.asUintN(64, BigInt(Math.min(found.maxElements, Number.MAX_SAFE_INTEGER))) };
    },
  };
}

function within(type: DeclType, part: string): DeclType | undefined {
  if (part === "@items" || part === "@values")
    return type.kind === "list" || type.kind === "map" ? type.element : undefined;
  if (part === "@keys") return type.kind === "map" ? type.key : undefined;
  return type.kind === "object" ? type.fields.get(part) : undefined;
}
