import { RE2JS, RE2JSSyntaxException } from "re2js";
import { findFormat, isSupportedFormat } from "../formats/formats.ts";
import { itemSchema, type JsonSchemaProps, sortedSchemas, valueSchema } from "../json-schema-props.ts";
import { patternSize } from "./pattern-size.ts";

/**
 * Whether values come from requests, or are defaults within a definition. Upstream converts the
 * schema differently: for defaults it keeps unsupported formats, and it does not set the types of
 * `x-kubernetes-int-or-string`.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/validation/validation.go.
 */
export type ValueOrigin = "request" | "default";

/**
 * The values that a schema allows. Nested schemas are read when values first use them. As in
 * upstream's validator, this includes both the structural part and the value checks.
 */
export class ValueSchema {
  /** The allowed types; empty for all. */
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly format: string;
  readonly enum: readonly unknown[];
  readonly required: readonly string[];
  readonly source: JsonSchemaProps;
  readonly #origin: ValueOrigin;
  #properties: ReadonlyMap<string, ValueSchema> | undefined;
  #items: ValueSchema | undefined;
  #values: ValueSchema | undefined;
  #allOf: readonly ValueSchema[] | undefined;
  #anyOf: readonly ValueSchema[] | undefined;
  #oneOf: readonly ValueSchema[] | undefined;
  #not: ValueSchema | undefined;
  #pattern: CompiledPattern | undefined;

  constructor(source: JsonSchemaProps, origin: ValueOrigin) {
    this.source = source;
    this.#origin = origin;
    this.nullable = source.nullable === true;
    this.enum = source.enum ?? nothing;
    this.required = source.required ?? nothing;
    this.types =
      origin === "request" && source["x-kubernetes-int-or-string"] === true
        ? integerOrString
        : source.type
          ? [source.type]
          : nothing;
    const format = source.format ?? "";
    const type = this.types.length === 1 ? (this.types[0] as string) : "";
    this.format = origin === "default" || isSupportedFormat(format, type) ? format : "";
  }

  /** By name, sorted. */
  get properties(): ReadonlyMap<string, ValueSchema> {
    this.#properties ??= new Map(
      sortedSchemas(this.source.properties).map(([name, schema]) => [name, this.#within(schema)]),
    );
    return this.#properties;
  }

  get items(): ValueSchema | undefined {
    const items = itemSchema(this.source);
    if (items !== undefined) this.#items ??= this.#within(items);
    return this.#items;
  }

  /** The schema of properties that are not declared by name. */
  get values(): ValueSchema | undefined {
    const values = valueSchema(this.source);
    if (values !== undefined) this.#values ??= this.#within(values);
    return this.#values;
  }

  get allowsOtherProperties(): boolean {
    return this.source.additionalProperties !== false;
  }

  get allOf(): readonly ValueSchema[] {
    this.#allOf ??= this.#all(this.source.allOf);
    return this.#allOf;
  }

  get anyOf(): readonly ValueSchema[] {
    this.#anyOf ??= this.#all(this.source.anyOf);
    return this.#anyOf;
  }

  get oneOf(): readonly ValueSchema[] {
    this.#oneOf ??= this.#all(this.source.oneOf);
    return this.#oneOf;
  }

  get not(): ValueSchema | undefined {
    if (this.source.not !== undefined) this.#not ??= this.#within(this.source.not);
    return this.#not;
  }

  /** The compiled pattern, if any. */
  get pattern(): CompiledPattern | undefined {
    if (this.source.pattern) this.#pattern ??= compilePattern(this.source.pattern);
    return this.#pattern;
  }

  /** The check of the format; undefined without a supported format. */
  get matchesFormat(): ((text: string) => boolean) | undefined {
    return this.format === "" ? undefined : findFormat(this.format);
  }

  #within(schema: JsonSchemaProps): ValueSchema {
    return new ValueSchema(schema, this.#origin);
  }

  #all(schemas: readonly JsonSchemaProps[] | undefined): readonly ValueSchema[] {
    return schemas === undefined ? nothing : schemas.map((schema) => this.#within(schema));
  }
}

const nothing: readonly never[] = [];
const integerOrString: readonly string[] = ["integer", "string"];

/** A compiled pattern, or Go's message about an invalid one. */
type CompiledPattern =
  | { readonly matches: (text: string) => boolean; readonly error?: undefined }
  | { readonly error: string; readonly matches?: undefined };

/**
 * Compiles a pattern with the semantics of RE2. Both compiling and matching are bounded: patterns
 * that are too large are invalid, and text that would take too long does not match.
 */
export function compilePattern(pattern: string): CompiledPattern {
  const cached = compiledPatterns.get(pattern);
  if (cached !== undefined) return cached;
  const compiled = compile(pattern);
  if (compiledPatterns.size >= compiledPatternsMax)
    compiledPatterns.delete(compiledPatterns.keys().next().value as string);
  compiledPatterns.set(pattern, compiled);
  return compiled;
}

/** Depends on the pattern alone. Many schemas have the same patterns for names. */
const compiledPatterns = new Map<string, CompiledPattern>();
const compiledPatternsMax = 1000;

/**
 * Checks a pattern. Results are cached longer than compiled patterns.
 * @returns Go's message when the pattern is invalid
 */
export function patternError(pattern: string): string | undefined {
  if (pattern.length > cachedLengthMax) return compilePattern(pattern).error;
  const cached = patternErrors.get(pattern);
  if (cached !== undefined) return cached.error;
  const { error } = compilePattern(pattern);
  if (patternErrors.size >= patternErrorsMax) patternErrors.clear();
  patternErrors.set(pattern, { error });
  return error;
}

/** Depends on the pattern alone. */
const patternErrors = new Map<string, { readonly error: string | undefined }>();
const patternErrorsMax = 10_000;
const cachedLengthMax = 1000;

/**
 * Instructions; larger programs take a tenth of a second to compile. Go's limit is some millions.
 */
const programMax = 25_000;
/** Instructions times characters; in the worst case they take a second. */
const stepsMax = 200_000_000;

function compile(pattern: string): CompiledPattern {
  if (patternSize(pattern) > programMax) return { error: "error parsing regexp: expression too large" };
  try {
    const compiled = RE2JS.compile(pattern);
    const lengthMax = stepsMax / compiled.programSize();
    return { matches: (text) => text.length <= lengthMax && compiled.matcher(text).find() };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return { error: goMessage(error.message) };
    throw error;
  }
}

/** RE2JS omits the offending text when it is empty; Go prints empty quotes. */
function goMessage(message: string): string {
  return message.endsWith("trailing backslash at end of expression") ? `${message}: \`\`` : message;
}

/** Whether a schema has the limit. */
export function isLimit(limit: number | bigint | undefined | null): limit is number | bigint {
  return limit !== undefined && limit !== null;
}
