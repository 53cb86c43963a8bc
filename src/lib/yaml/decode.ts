/**
 * Decodes YAML to JSON values as upstream does: values have the meaning of go-yaml v2, keys become
 * strings, and a float without a fraction becomes an integer.
 * Source: sigs.k8s.io/yaml and go-yaml v2, with which upstream decodes request bodies.
 */
import { sortedKeys } from "../json/encode-any.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { setMember, toInteger } from "../json/values.ts";
import type { Pause } from "../pauses.ts";
import { readCharacters } from "./characters.ts";
import { formatFloat, goSyntax } from "./go-format.ts";
import { type AliasNode, type MappingNode, type Node, parseYaml, parseYamlInSteps, type ScalarNode } from "./parser.ts";
import { Float, resolvePlain, resolveTagged, type Scalar, shortTag } from "./scalar.ts";
import { depthMax } from "./scanner.ts";
import { YamlError } from "./yaml-error.ts";

export { YamlError } from "./yaml-error.ts";

/** A decoded document. */
export interface DecodedYaml {
  /**
   * The value in the exact form of `lib/json`: safe integers are numbers, other integers bigint,
   * all other numbers NumberLiteral. The caller may change it.
   */
  readonly value: unknown;
  /**
   * The errors of upstream's strict decoder such as `line 4: key "a" already set in map`, at most
   * 100.
   */
  readonly strictErrors: readonly string[];
}

/**
 * Decodes the first document and ignores the rest. Empty text is null. Values may have 1000 levels,
 * including those of aliases; upstream allows 10,000, which is more than code that walks objects
 * can recurse here.
 * @throws YamlError with upstream's message, also for too many levels and alias bombs
 */
export function decodeYaml(bytes: Buffer): DecodedYaml {
  const root = parseYaml(readCharacters(bytes));
  if (root === undefined) return { value: null, strictErrors: [] };
  const builder = new Builder();
  const steps = builder.value(root);
  for (let step = steps.next(); ; step = steps.next())
    if (step.done === true) return { value: step.value, strictErrors: builder.strictErrors };
}

/**
 * As {@link decodeYaml}, in steps.
 * @param pause called between them
 */
export async function decodeYamlInSteps(bytes: Buffer, pause: Pause): Promise<DecodedYaml> {
  const root = await parseYamlInSteps(readCharacters(bytes), pause);
  if (root === undefined) return { value: null, strictErrors: [] };
  const builder = new Builder();
  const steps = builder.value(root);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { value: step.value, strictErrors: builder.strictErrors };
    await pause();
  }
}

/** Joins strict errors to the one message that upstream reports. */
export function strictYamlError(strictErrors: readonly string[]): string {
  return `yaml: unmarshal errors:\n  ${strictErrors.join("\n  ")}`;
}

const strictErrorsMax = 100;
/**
 * The total length of scalars that are reached through aliases, because each use repeats the text.
 */
const aliasedTextMax = 16 << 20;

/**
 * Sorts the keys of a mapping, as upstream does. Untyped stored values and error messages keep that
 * order.
 */
function* sorted(object: Record<string, unknown>): Steps<Record<string, unknown>> {
  const result = {};
  const keys = sortedKeys(object);
  for (const [index, key] of keys.entries()) {
    if (index % stepNodes === 0 && keys.length > stepNodes) yield;
    setMember(result, key, object[key]);
  }
  return result;
}

/** Yields where decoding may pause. */
type Steps<T> = Generator<void, T, void>;

/** Nodes of a step. */
const stepNodes = 1024;

/** A mapping under construction. */
interface Target {
  readonly object: Record<string, unknown>;
  /** The identities of its keys, once one is not a string: 1 and "1" are different keys in YAML. */
  keys: Set<unknown> | undefined;
}

class Builder {
  readonly strictErrors: string[] = [];
  /** The aliases that are being followed. */
  readonly #following = new Set<AliasNode>();
  #depth = 0;
  /** The number of nodes so far, and of nodes reached through aliases. */
  #nodes = 1;
  #aliased = 0;
  #aliasedText = 0;

  *value(node: Node): Steps<unknown> {
    if (node.kind === "scalar") return this.#leaf(node);
    this.#count();
    switch (node.kind) {
      case "alias":
        return yield* this.#follow(node, (target) => this.value(target));
      case "sequence": {
        this.#enter();
        const list: unknown[] = [];
        for (const item of node.items) {
          list.push(item.kind === "scalar" ? this.#leaf(item) : yield* this.value(item));
          if (this.#nodes % stepNodes === 0) yield;
        }
        this.#depth--;
        return list;
      }
      case "mapping": {
        const target: Target = { object: {}, keys: undefined };
        yield* this.#members(node, target);
        return yield* sorted(target.object);
      }
    }
  }

  #leaf(node: ScalarNode): unknown {
    this.#count();
    return toJson(this.#scalar(node));
  }

  /**
   * Counts a node.
   * @throws YamlError when aliases expand to more than upstream's ratio: 99% of the nodes of small
   *   documents, down to 10% of large ones
   */
  #count(): void {
    this.#nodes++;
    if (this.#following.size === 0) return;
    this.#aliased++;
    if (this.#aliased > 100 && this.#nodes > 1000 && this.#aliased / this.#nodes > allowedAliasRatio(this.#nodes))
      throw excessiveAliasing();
  }

  *#follow<T>(alias: AliasNode, build: (target: Node) => Steps<T>): Steps<T> {
    if (this.#following.has(alias)) throw new YamlError(`yaml: anchor '${alias.name}' value contains itself`);
    this.#following.add(alias);
    const built = yield* build(alias.target);
    this.#following.delete(alias);
    return built;
  }

  #enter(): void {
    if (++this.#depth > depthMax) throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
  }

  *#members({ items }: MappingNode, target: Target): Steps<void> {
    this.#enter();
    for (let index = 0; index < items.length; index += 2) {
      const key = items[index] as Node;
      const value = items[index + 1] as Node;
      if (isMerge(key)) yield* this.#merge(value, target);
      else if (key.kind === "scalar" && value.kind === "scalar")
        this.#add(this.#plainKey(key), this.#leaf(value), value.line, target);
      else this.#add(yield* this.#key(key), yield* this.value(value), value.line, target);
      if (index % stepNodes === 0) yield;
    }
    this.#depth--;
  }

  #add(key: Scalar, value: unknown, line: number, target: Target): void {
    const text = keyText(key, value);
    if (addKey(key, target)) this.#repeated(typeof key === "string" ? goSyntax(key) : text, line);
    setMember(target.object, text, value);
  }

  #repeated(key: string, line: number): void {
    if (this.strictErrors.length < strictErrorsMax)
      this.strictErrors.push(`line ${line}: key ${key} already set in map`);
  }

  *#key(node: Node): Steps<Scalar> {
    if (node.kind === "scalar") return this.#plainKey(node);
    if (node.kind !== "alias") throw new YamlError(`yaml: invalid map key: ${goSyntax(yield* this.value(node))}`);
    this.#count();
    return yield* this.#follow(node, (target) => this.#key(target));
  }

  #plainKey(node: ScalarNode): Scalar {
    this.#count();
    return this.#scalar(node);
  }

  /**
   * Merges mappings. As in go-yaml v2, the last merge wins, also over members of the mapping
   * itself.
   */
  *#merge(node: Node, target: Target): Steps<void> {
    if (node.kind !== "sequence") return yield* this.#mergeOne(node, target);
    for (const item of node.items.toReversed()) yield* this.#mergeOne(item, target); // The first one wins.
  }

  *#mergeOne(node: Node, target: Target): Steps<void> {
    this.#count();
    if (node.kind === "mapping") return yield* this.#members(node, target);
    if (node.kind !== "alias" || node.target.kind !== "mapping") {
      throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
    }
    const { target: merged } = node;
    const members = (): Steps<void> => {
      this.#count();
      return this.#members(merged, target);
    };
    yield* this.#follow(node, members);
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

/** Adds a key to the keys of a mapping, and returns whether it was there already. */
function addKey(key: Scalar, target: Target): boolean {
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

/** Converts a scalar to JSON. As in Go's JSON, a float without a fraction becomes an integer. */
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

/**
 * The text of a key.
 * @param value the value of the member, for the message
 * @throws YamlError for a key that cannot become a string
 */
function keyText(key: Scalar, value: unknown): string {
  if (typeof key === "string") return key;
  if (key === null)
    throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
  if (typeof key === "bigint" && key > int64Max) {
    throw new YamlError(`unsupported map key of type: uint64, key: 0x${key.toString(16)}, value: ${goSyntax(value)}`);
  }
  return key instanceof Float ? formatFloat(key.value, 32) : String(key);
}

/** Upstream's limit against alias bombs. */
function allowedAliasRatio(nodes: number): number {
  const low = 400_000;
  const high = 4_000_000;
  if (nodes <= low) return 0.99;
  return nodes >= high ? 0.1 : 0.99 - 0.89 * ((nodes - low) / (high - low));
}

function excessiveAliasing(): YamlError {
  return new YamlError("yaml: document contains excessive aliasing");
}
