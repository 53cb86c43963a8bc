/**
 * Checks expressions that select devices: errors and estimated cost.
 * Source: k8s.io/dynamic-resource-allocation@v0.36.0/cel/compile.go
 */
import {
  anyType,
  boolType,
  declare,
  dynType,
  type Environment,
  formatType,
  type Macro,
  member,
  quantityType,
  type SizeHints,
  stringType,
} from "../lib/cel/index.ts";
import {
  boolDecl,
  type DeclType,
  mapDecl,
  objectDecl,
  scalarDecl,
  typeRegistry,
} from "../lib/cel/schema-types/index.ts";
import { compileExpression } from "./compile-expression.ts";
import { newExpressions, storedExpressions } from "./environments.ts";

const domainBytesMax = 63;
const identifierBytesMax = 32;
const driverBytesMax = 63;
const propertiesMax = 32;
const valueBytesMax = 64;
const listItemsMax = 48;
const costMax = 1_000_000n;

const text = (bytesMax: number): DeclType => scalarDecl(stringType, 2, bytesMax);
/** A map by domain, then by name. */
const properties = (value: DeclType): DeclType =>
  mapDecl(mapDecl(value, propertiesMax, text(identifierBytesMax)), propertiesMax, text(domainBytesMax));

const valueDecl = scalarDecl(anyType, 1, valueBytesMax);
/**
 * A value or a list of values. A list has at most 48 items, fewer than the maximum length of a
 * value.
 */
const valuesDecl = scalarDecl(dynType, 1, valueBytesMax);

interface Features {
  readonly hasMultipleAllocations: boolean;
  readonly hasLists: boolean;
}

function deviceDecl({ hasMultipleAllocations, hasLists }: Features): DeclType {
  return objectDecl("kubernetes.DRADevice", {
    ...(hasMultipleAllocations && { allowMultipleAllocations: { ...boolDecl, maxElements: 1 } }),
    driver: text(driverBytesMax),
    attributes: properties(hasLists ? valuesDecl : valueDecl),
    capacity: properties(scalarDecl(quantityType, 1)),
  });
}

/** `x.includes(y)`. The server checks expressions and never evaluates them. */
const includes = declare(
  "includes",
  member("dra_includes_dyn_dyn", [dynType, dynType], boolType, {
    evaluate: () => false,
    estimate: () => ({ cost: { min: 0n, max: BigInt(listItemsMax) } }),
  }),
);

/** `cel.bind(name, value, expression)`: an empty comprehension binds the name. */
const bind: Macro = {
  name: "bind",
  receiver: true,
  arity: 3,
  expand(build, target, [name, init, result]) {
    if (
      target?.kind !== "identifier" ||
      target.name !== "cel" ||
      name === undefined ||
      init === undefined ||
      result === undefined
    )
      return undefined;
    if (name.kind !== "identifier")
      return build.reportError(name, "cel.bind() variable names must be simple identifiers");
    const condition = build.constant(false);
    return build.comprehension({
      ...{ variable: "#unused", range: build.list(), accumulator: name.name, init, condition },
      ...{ step: build.identifier(name.name), result },
    });
  },
};

const environments = new Map<string, Environment>();

/** @param minCompatible the oldest release that can compile new expressions; undefined for stored ones */
function environmentFor(minCompatible: number | undefined, features: Features): Environment {
  const { hasMultipleAllocations, hasLists } = features;
  const key = `${minCompatible} ${hasMultipleAllocations} ${hasLists}`;
  const cached = environments.get(key);
  if (cached !== undefined) return cached;
  const types = typeRegistry();
  const type = types.typeOf(deviceDecl(features), "");
  const base = minCompatible === undefined ? storedExpressions() : newExpressions(minCompatible);
  const environment = base.extend({
    types,
    variables: [{ name: "device", type }],
    macros: [bind],
    functions: hasLists ? [includes] : [],
  });
  environments.set(key, environment);
  return environment;
}

interface Request extends Features {
  readonly text: string;
  readonly isStored: boolean;
}

interface DeviceChecker {
  check(request: Request): { readonly problem: string } | "costly" | undefined;
}

/**
 * The check that the validation of the group resource.k8s.io calls.
 *
 * @param minCompatible the oldest release that can compile new expressions
 */
export function deviceChecker(minCompatible: number): DeviceChecker {
  return {
    check({ text: expression, isStored, ...features }) {
      const environment = environmentFor(isStored ? undefined : minCompatible, features);
      const { checked, error } = compileExpression(environment, expression);
      if (checked === undefined) return { problem: error };
      const isAllowed =
        checked.type === boolType || checked.type === anyType || (features.hasLists && checked.type === dynType);
      if (!isAllowed) return { problem: `must evaluate to bool or the unknown type, not ${formatType(checked.type)}` };
      return environment.estimateCost(checked, sizes).max > costMax ? "costly" : undefined;
    },
  };
}

/** The declaration with all fields that have a size. */
const sizedDecl = deviceDecl({ hasMultipleAllocations: true, hasLists: false });
const sizes: SizeHints = {
  estimateSize({ path }) {
    if (path?.[0] !== "device") return undefined;
    let at: DeclType | undefined = sizedDecl;
    for (const name of path.slice(1)) at = at && within(at, name);
    return at && { min: 0n, max: BigInt(Math.max(0, at.maxElements)) };
  },
};

function within(decl: DeclType, name: string): DeclType | undefined {
  const isMap = decl.kind === "map";
  if (name === "@items" || name === "@values") return isMap || decl.kind === "list" ? decl.element : undefined;
  if (name === "@keys") return isMap ? decl.key : undefined;
  const field = decl.kind === "object" ? decl.fields.get(name) : undefined;
  // `attributes["domain"].name`: any name is an attribute.
  return field ?? (isMap && decl.element === valueDecl ? valueDecl : undefined);
}
