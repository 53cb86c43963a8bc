/**
 * What values a schema allows, read from it once and in parts: what is within is read when data is first seen there. Structure and value
 * checks are not told apart here, as upstream's validator does not either.
 */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { findFormat, isSupportedFormat } from "../formats/formats.ts";
import { itemSchema, type JsonSchemaProps, sortedSchemas, valueSchema } from "../json-schema-props.ts";
import { patternSize } from "./pattern-size.ts";

/**
 * Values of requests, or defaults within a definition: upstream goes through two conversions, and for defaults formats that mean nothing are
 * not taken away, and a type is not put in for `x-kubernetes-int-or-string`.
 */
export type ValueOrigin = "request" | "default";

export class ValueSchema {
  /** Any of these; empty for all. */
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

  /** Of all properties without a name of their own. */
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

  /** Undefined where there is none. */
  get pattern(): CompiledPattern | undefined {
    if (this.source.pattern) this.#pattern ??= compilePattern(this.source.pattern);
    return this.#pattern;
  }

  /** Undefined where there is none, and where it is not known. */
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

/** A pattern, or what is wrong with it in Go's words. */
export type CompiledPattern =
  | { readonly matches: (text: string) => boolean; readonly error?: undefined }
  | { readonly error: string; readonly matches?: undefined };

/**
 * With RE2's meaning. Both making and finding are bounded: what is too large is refused, and what would take too long to find is not found.
 */
export function compilePattern(pattern: string): CompiledPattern {
  const known = compiledPatterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = compile(pattern);
  if (compiledPatterns.size >= compiledPatternsMax)
    compiledPatterns.delete(compiledPatterns.keys().next().value as string);
  compiledPatterns.set(pattern, compiled);
  return compiled;
}

/** Depends on the pattern alone. Many schemas say the same of names. */
const compiledPatterns = new Map<string, CompiledPattern>();
const compiledPatternsMax = 1000;

/** Whether it is one; remembered longer than what is made of it. @returns what is wrong with it */
export function patternError(pattern: string): string | undefined {
  if (pattern.length > rememberedLengthMax) return compilePattern(pattern).error;
  const known = patternErrors.get(pattern);
  if (known !== undefined) return known.error;
  const { error } = compilePattern(pattern);
  if (patternErrors.size >= patternErrorsMax) patternErrors.clear();
  patternErrors.set(pattern, { error });
  return error;
}

/** Depends on the pattern alone. */
const patternErrors = new Map<string, { readonly error: string | undefined }>();
const patternErrorsMax = 10_000;
const rememberedLengthMax = 1000;

/** Instructions; more take a tenth of a second to make. Go has no such limit before some millions. */
const programMax = 25_000;
/** Instructions times characters, which take a second where it comes to the worst. */
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

/** RE2JS leaves out what is wrong where that is nothing. */
function goMessage(message: string): string {
  return message.endsWith("trailing backslash at end of expression") ? `${message}: \`\`` : message;
}
