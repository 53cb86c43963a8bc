/**
 * Checker types of declared types. An object type without a name is named after its position, such
 * as `selfType.spec.ports.@idx`.
 */
import type { SizeHints, TypeResolver } from "../declarations.ts";
import { type CelType, listType, mapType, objectType } from "../types.ts";
import { fail } from "../values/failure.ts";
import type { DeclType, ObjectDecl } from "./decl-type.ts";
import { isReserved } from "./escape.ts";

/**
 * The object types of one environment. Checking an expression adds the types of the fields it uses.
 */
export interface TypeRegistry extends TypeResolver {
  /**
   * Returns the checker type of a declared type.
   *
   * @param name of an object without a name of its own, and prefix for the objects in it
   */
  typeOf(declared: DeclType, name: string): CelType;
}

/** Creates an empty registry. */
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
  /** Registers named types inside an object at once, because expressions can name them directly. */
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

/**
 * Returns the sizes of data below a variable of this type. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/compilation.go, sizeEstimator
 */
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
