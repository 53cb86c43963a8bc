/**
 * Compiles expressions that select devices, to tell what is wrong with them and whether they may cost too much.
 * Source: k8s.io/dynamic-resource-allocation cel/compile.go
 */
import { anyType, boolType, type Environment, formatType, type Macro, quantityType, type SizeHints, stringType } from "../lib/cel/index.ts";
import { boolDecl, type DeclType, mapDecl, objectDecl, scalarDecl, typeRegistry } from "../lib/cel/schema-types/index.ts";
import { compileExpression } from "./compile-expression.ts";
import { newExpressions, storedExpressions } from "./environments.ts";

const domainBytesMax = 63;
const identifierBytesMax = 32;
const driverBytesMax = 63;
const propertiesMax = 32;
const valueBytesMax = 64;
const costMax = 1_000_000n;

const text = (bytesMax: number): DeclType => scalarDecl(stringType, 2, bytesMax);
/** By domain, then by name. */
const properties = (value: DeclType): DeclType =>
  mapDecl(mapDecl(value, propertiesMax, text(identifierBytesMax)), propertiesMax, text(domainBytesMax));

const attributeDecl = scalarDecl(anyType, 1, valueBytesMax);
const deviceFields = {
  driver: text(driverBytesMax),
  attributes: properties(attributeDecl),
  capacity: properties(scalarDecl(quantityType, 1)),
};
const plainDevice = objectDecl("kubernetes.DRADevice", deviceFields);
const sharedDevice = objectDecl("kubernetes.DRADevice", { allowMultipleAllocations: { ...boolDecl, maxElements: 1 }, ...deviceFields });

/** `cel.bind(name, value, expression)`: a comprehension over nothing binds the name. */
const bind: Macro = {
  name: "bind",
  receiver: true,
  arity: 3,
  expand(build, target, [name, init, result]) {
    if (target?.kind !== "identifier" || target.name !== "cel" || name === undefined || init === undefined || result === undefined) return undefined;
    if (name.kind !== "identifier") return build.complain(name, "cel.bind() variable names must be simple identifiers");
    const condition = build.constant(false);
    return build.comprehension({
      ...{ variable: "#unused", range: build.list(), accumulator: name.name, init, condition },
      ...{ step: build.identifier(name.name), result },
    });
  },
};

const environments = new Map<string, Environment>();

function environmentFor(isStored: boolean, hasMultipleAllocations: boolean): Environment {
  const key = `${isStored} ${hasMultipleAllocations}`;
  const known = environments.get(key);
  if (known !== undefined) return known;
  const types = typeRegistry();
  const type = types.typeOf(hasMultipleAllocations ? sharedDevice : plainDevice, "");
  const base = isStored ? storedExpressions() : newExpressions();
  const environment = base.extend({ types, variables: [{ name: "device", type }], macros: [bind] });
  environments.set(key, environment);
  return environment;
}

interface Request {
  readonly text: string;
  readonly isStored: boolean;
  readonly hasMultipleAllocations: boolean;
}

/** What apis/resource asks. */
export const deviceChecker = {
  check({ text: expression, isStored, hasMultipleAllocations }: Request): { readonly problem: string } | "costly" | undefined {
    const environment = environmentFor(isStored, hasMultipleAllocations);
    const { checked, error } = compileExpression(environment, expression);
    if (checked === undefined) return { problem: error };
    if (checked.type !== boolType && checked.type !== anyType) {
      return { problem: `must evaluate to bool or the unknown type, not ${formatType(checked.type)}` };
    }
    return environment.estimateCost(checked, sizes).max > costMax ? "costly" : undefined;
  },
};

/** Names within attributes are those of values, whatever they are. */
const sizes: SizeHints = {
  estimateSize({ path }) {
    if (path?.[0] !== "device") return undefined;
    let at: DeclType | undefined = sharedDevice;
    for (const name of path.slice(1)) at = at && within(at, name);
    return at && { min: 0n, max: BigInt(Math.max(0, at.maxElements)) };
  },
};

function within(decl: DeclType, name: string): DeclType | undefined {
  const isMap = decl.kind === "map";
  if (name === "@items" || name === "@values") return isMap || decl.kind === "list" ? decl.element : undefined;
  if (name === "@keys") return isMap ? decl.key : undefined;
  const field = decl.kind === "object" ? decl.fields.get(name) : undefined;
  return field ?? (isMap && decl.element === attributeDecl ? attributeDecl : undefined);
}
