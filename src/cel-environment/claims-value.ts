/**
 * The value of `claims`. Source:
 * k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/oidc.go and pkg/cel/lazy
 */
import { CelDouble, CelMap, type CelValue, JsonList, type JsonValue } from "../lib/cel/index.ts";
import { unescapeName } from "../lib/cel/schema-types/index.ts";

/**
 * Wraps the claims of a token. All numbers are doubles, and claims are found by their escaped
 * names: `claims.foo__dot__bar` is `foo.bar`.
 */
export function claimsValue(claims: { readonly [name: string]: JsonValue }): CelValue {
  return new ClaimMap(claims, unescapeName);
}

function claimValue(value: JsonValue): CelValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" || typeof value === "bigint") return new CelDouble(Number(value));
  return Array.isArray(value)
    ? new ClaimList(value)
    : new ClaimMap(value as { readonly [key: string]: JsonValue }, nameWithin);
}

/** Inside a claim, an invalid escape is part of the name. */
function nameWithin(key: string): string {
  return unescapeName(key) ?? key;
}

class ClaimList extends JsonList {
  protected override read(item: JsonValue): CelValue {
    return claimValue(item);
  }
}

class ClaimMap extends CelMap {
  readonly #object: { readonly [key: string]: JsonValue };
  readonly #nameOf: (key: string) => string | undefined;
  constructor(object: { readonly [key: string]: JsonValue }, nameOf: (key: string) => string | undefined) {
    super();
    this.#object = object;
    this.#nameOf = nameOf;
  }
  get size(): number {
    return Object.keys(this.#object).length;
  }
  find(key: CelValue): CelValue | undefined {
    const name = typeof key === "string" ? this.#nameOf(key) : undefined;
    return name !== undefined && Object.hasOwn(this.#object, name)
      ? claimValue(this.#object[name] as JsonValue)
      : undefined;
  }
  keys(): readonly CelValue[] {
    return Object.keys(this.#object);
  }
}
