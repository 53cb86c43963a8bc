/**
 * YAML to JSON, as upstream does it: a document means what go-yaml v2 makes of it, and becomes what JSON can hold: keys are texts, a float without
 * a fraction is an integer. Source: sigs.k8s.io/yaml and go-yaml v2, which upstream reads bodies with.
 */
import { sortedKeys } from "../json/encode-any.ts";
import { NumberLiteral } from "../json/exact.ts";
import { setMember, toInteger } from "../json/values.ts";
import { readCharacters } from "./characters.ts";
import { formatFloat, goSyntax } from "./go-format.ts";
import { type AliasNode, type MappingNode, type Node, parseYaml, type ScalarNode } from "./parser.ts";
import { Float, resolvePlain, resolveTagged, type Scalar, shortTag } from "./scalar.ts";
import { depthMax } from "./scanner.ts";
import { YamlError } from "./yaml-error.ts";

export { YamlError } from "./yaml-error.ts";

export interface DecodedYaml {
  /** As `lib/json` parses it exactly: integers are a number while safe, a bigint beyond; a NumberLiteral otherwise. Owned by the caller. */
  readonly value: unknown;
  /** `line 4: key "a" already set in map`: what upstream's strict decoder finds, in its order, at most 100. */
  readonly strictErrors: readonly string[];
}

/**
 * Decodes the first document; what follows it is not looked at. An empty text is null. Nothing nests deeper than 1000 levels, aliases followed;
 * upstream allows 10,000, which is more than walks of objects can recurse here.
 * @throws YamlError with upstream's message, for what nests too deep and for alias bombs too
 */
export function decodeYaml(bytes: Buffer): DecodedYaml {
  const root = parseYaml(readCharacters(bytes));
  if (root === undefined) return { value: null, strictErrors: [] };
  const builder = new Builder();
  return { value: builder.value(root), strictErrors: builder.strictErrors };
}

/** The strict errors as the one error upstream makes of them. */
export function strictYamlError(strictErrors: readonly string[]): string {
  return `yaml: unmarshal errors:\n  ${strictErrors.join("\n  ")}`;
}

const strictErrorsMax = 100;
/** Characters that scalars reached through aliases may have together, since each is written out wherever it is named. */
const aliasedTextMax = 16 << 20;

/** Mappings become JSON with their keys in order, as upstream's do: what is stored as it came, and what is told of it, follows that order. */
function sorted(object: Record<string, unknown>): Record<string, unknown> {
  const result = {};
  for (const key of sortedKeys(object)) setMember(result, key, object[key]);
  return result;
}

/** A mapping on its way. */
interface Target {
  readonly object: Record<string, unknown>;
  /** What tells its keys apart, once one of them is no text: 1 and "1" are two in YAML. */
  keys: Set<unknown> | undefined;
}

class Builder {
  readonly strictErrors: string[] = [];
  /** Aliases being followed. */
  readonly #following = new Set<AliasNode>();
  #depth = 0;
  /** Nodes so far, and those of them reached through aliases. */
  #nodes = 1;
  #aliased = 0;
  #aliasedText = 0;

  value(node: Node): unknown {
    this.#count();
    switch (node.kind) {
      case "scalar":
        return toJson(this.#scalar(node));
      case "alias":
        return this.#follow(node, (target) => this.value(target));
      case "sequence": {
        this.#enter();
        const list = node.items.map((item) => this.value(item));
        this.#depth--;
        return list;
      }
      case "mapping": {
        const target: Target = { object: {}, keys: undefined };
        this.#members(node, target);
        return sorted(target.object);
      }
    }
  }

  /** @throws YamlError when most of the document comes from aliases: by upstream's ratio, from 99% for small ones down to 10% for large ones */
  #count(): void {
    this.#nodes++;
    if (this.#following.size === 0) return;
    this.#aliased++;
    if (this.#aliased > 100 && this.#nodes > 1000 && this.#aliased / this.#nodes > allowedAliasRatio(this.#nodes))
      throw excessiveAliasing();
  }

  #follow<T>(alias: AliasNode, build: (target: Node) => T): T {
    if (this.#following.has(alias)) throw new YamlError(`yaml: anchor '${alias.name}' value contains itself`);
    this.#following.add(alias);
    const built = build(alias.target);
    this.#following.delete(alias);
    return built;
  }

  #enter(): void {
    if (++this.#depth > depthMax) throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
  }

  #members({ items }: MappingNode, target: Target): void {
    this.#enter();
    for (let index = 0; index < items.length; index += 2) {
      const key = items[index] as Node;
      const value = items[index + 1] as Node;
      if (isMerge(key)) this.#merge(value, target);
      else this.#member(key, value, target);
    }
    this.#depth--;
  }

  #member(keyNode: Node, valueNode: Node, target: Target): void {
    const key = this.#key(keyNode);
    const value = this.value(valueNode);
    const text = keyText(key, value);
    if (isRepeated(key, target)) this.#repeated(typeof key === "string" ? goSyntax(key) : text, valueNode.line);
    setMember(target.object, text, value);
  }

  #repeated(key: string, line: number): void {
    if (this.strictErrors.length < strictErrorsMax)
      this.strictErrors.push(`line ${line}: key ${key} already set in map`);
  }

  #key(node: Node): Scalar {
    if (node.kind === "sequence" || node.kind === "mapping")
      throw new YamlError(`yaml: invalid map key: ${goSyntax(this.value(node))}`);
    this.#count();
    return node.kind === "scalar" ? this.#scalar(node) : this.#follow(node, (target) => this.#key(target));
  }

  /** What is merged later wins, over members that stand in the mapping itself too, as in go-yaml v2. */
  #merge(node: Node, target: Target): void {
    if (node.kind !== "sequence") return this.#mergeOne(node, target);
    for (const item of node.items.toReversed()) this.#mergeOne(item, target); // The first one wins.
  }

  #mergeOne(node: Node, target: Target): void {
    this.#count();
    if (node.kind === "mapping") return this.#members(node, target);
    if (node.kind !== "alias" || node.target.kind !== "mapping") {
      throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
    }
    const { target: merged } = node;
    this.#follow(node, () => {
      this.#count();
      this.#members(merged, target);
    });
  }

  #scalar({ text, tag, implicit }: ScalarNode): Scalar {
    if (this.#following.size > 0) {
      this.#aliasedText += text.length;
      if (this.#aliasedText > aliasedTextMax) throw excessiveAliasing();
    }
    if (tag !== "") return resolveTagged(shortTag(tag), text);
    return implicit ? resolvePlain(text) : text;
  }
}

/** Whether the key is there already; from now on it is. */
function isRepeated(key: Scalar, target: Target): boolean {
  if (typeof key === "string" && target.keys === undefined) return Object.hasOwn(target.object, key);
  target.keys ??= new Set(Object.keys(target.object).map(identityOf));
  const identity = identityOf(key);
  const repeated = target.keys.has(identity);
  target.keys.add(identity);
  return repeated;
}

function identityOf(key: Scalar): unknown {
  if (typeof key === "string") return `"${key}`;
  return key instanceof Float ? `float ${key.value}` : key;
}

function isMerge(node: Node): boolean {
  return node.kind === "scalar" && node.text === "<<" && (node.implicit || shortTag(node.tag) === "!!merge");
}

/** A float is written as Go's JSON has it: without a fraction it is an integer to whoever reads it. */
function toJson(scalar: Scalar): unknown {
  if (typeof scalar === "bigint") return toInteger(scalar);
  if (!(scalar instanceof Float)) return scalar;
  const { value } = scalar;
  if (!Number.isFinite(value)) {
    throw new YamlError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`);
  }
  const text = String(value);
  return /^-?\d+$/.test(text) ? toInteger(BigInt(text)) : new NumberLiteral(text);
}

const int64Max = 2n ** 63n - 1n;

/** @param value of the key, for the message @throws YamlError for a key that JSON has no text for */
function keyText(key: Scalar, value: unknown): string {
  if (typeof key === "string") return key;
  if (key === null)
    throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
  if (typeof key === "bigint" && key > int64Max) {
    throw new YamlError(`unsupported map key of type: uint64, key: 0x${key.toString(16)}, value: ${goSyntax(value)}`);
  }
  return key instanceof Float ? formatFloat(key.value, 32) : String(key);
}

/** Upstream's measure against alias bombs. */
function allowedAliasRatio(nodes: number): number {
  const low = 400_000;
  const high = 4_000_000;
  if (nodes <= low) return 0.99;
  return nodes >= high ? 0.1 : 0.99 - 0.89 * ((nodes - low) / (high - low));
}

function excessiveAliasing(): YamlError {
  return new YamlError("yaml: document contains excessive aliasing");
}
