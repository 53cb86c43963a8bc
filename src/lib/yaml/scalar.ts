/**
 * Resolves scalars to values. Source: the types of YAML 1.1 as go-yaml v2 resolves them: octal
 * numbers have a leading zero, `yes` and `off` are booleans, and sexagesimal numbers are strings.
 */
import { YamlError } from "./yaml-error.ts";

/** A number that Go decodes as a float. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** The value of a scalar. Integers are bigint. */
export type Scalar = string | boolean | null | bigint | Float;

const words = new Map<string, boolean | null | Float>();
const spell = (value: boolean | null | Float, ...lower: string[]): void => {
  for (const word of lower) {
    for (const text of [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()]) words.set(text, value);
  }
};
spell(true, "y", "yes", "true", "on");
spell(false, "n", "no", "false", "off");
spell(null, "", "~", "null");
for (const text of [".inf", ".Inf", ".INF"]) {
  words.set(text, new Float(Number.POSITIVE_INFINITY));
  words.set(`+${text}`, new Float(Number.POSITIVE_INFINITY));
  words.set(`-${text}`, new Float(Number.NEGATIVE_INFINITY));
}
for (const text of [".nan", ".NaN", ".NAN"]) words.set(text, new Float(Number.NaN));

const wordLengthMax = 5;
const wordStarts: ReadonlySet<number> = new Set(
  [...words.keys()].filter((word) => word !== "").map((word) => word.charCodeAt(0)),
);

/** Resolves a plain scalar without a tag. Times are strings. */
export function resolvePlain(text: string): Scalar {
  const first = text.charCodeAt(0);
  if (text.length <= wordLengthMax && (wordStarts.has(first) || text === "")) {
    const word = words.get(text);
    if (word !== undefined) return word;
  }
  if (first === 0x2e) return floatOf(text.replaceAll("_", ""), anyFloat) ?? text;
  if ((first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d) return numberOf(text) ?? text;
  return text;
}

const anyFloat = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const integer = /^([-+]?)(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/;

function numberOf(text: string): bigint | Float | undefined {
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  return integerOf(plain) ?? floatOf(plain, anyFloat);
}

const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;
/** Longer than 64 bits in any notation, apart from leading zeros, which JSON does not allow. */
const integerLengthMax = 128;

function integerOf(text: string): bigint | undefined {
  if (text.length > integerLengthMax) return undefined;
  const [matched, sign, prefixed, octal, decimal] = integer.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const magnitude = BigInt(prefixed ?? (octal === undefined ? (decimal as string) : `0o${octal}`));
  const value = sign === "-" ? -magnitude : magnitude;
  // A number with a sign must fit into an int64; one without may be a uint64.
  return value < int64Min || value > (sign === "" ? uint64Max : -int64Min - 1n) ? undefined : value;
}

function floatOf(text: string, pattern: RegExp): Float | undefined {
  if (!pattern.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? new Float(value) : undefined;
}

const tagPrefix = "tag:yaml.org,2002:";

/** The short form of a tag: `!!int` for `tag:yaml.org,2002:int`. */
export function shortTag(tag: string): string {
  return tag.startsWith(tagPrefix) ? `!!${tag.slice(tagPrefix.length)}` : tag;
}

const resolvable: ReadonlySet<string> = new Set(["!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp"]);

/**
 * Resolves a scalar with a tag, quoted or not.
 * @param tag in its short form
 * @throws YamlError when the text is not a value of the tag's type
 */
export function resolveTagged(tag: string, text: string): Scalar {
  if (tag === "!!binary") return decodeBinary(text);
  if (!resolvable.has(tag) || tag === "!!str") return text;
  if (tag === "!!timestamp" && isTimestamp(text)) return text;
  const value = resolvePlain(text);
  const found = tagOf(value);
  if (found === tag) return value;
  if (tag === "!!float" && typeof value === "bigint" && value >= int64Min && value < -int64Min)
    return new Float(Number(value));
  throw new YamlError(`yaml: cannot decode ${found} \`${text}\` as a ${tag}`);
}

function tagOf(value: Scalar): string {
  if (value === null) return "!!null";
  if (typeof value === "boolean") return "!!bool";
  if (typeof value === "bigint") return "!!int";
  return typeof value === "string" ? "!!str" : "!!float";
}

function decodeBinary(text: string): string {
  const compact = text.replace(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact)) {
    throw new YamlError("yaml: !!binary value contains invalid base64 data");
  }
  return Buffer.from(compact, "base64").toString("utf8");
}

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?)?$/;

/** Whether go-yaml resolves the text as a time. */
export function isTimestamp(text: string): boolean {
  if (text.charCodeAt(4) !== 0x2d) return false;
  const [, year = "", month = "", day = ""] = timestamp.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return year !== "" && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
