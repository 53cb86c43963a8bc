/** Replaces the secrets in API objects, patches, lists, Tables and events of watches. */
import { isObject, setMember } from "../../lib/json/values.ts";
import { isWithinDepth } from "./depth.ts";
import type { Secrets } from "./secrets.ts";

/** What the path of a request says about its bodies, whose kind can be unset. */
export type Confidential = "secret" | "token" | undefined;

export interface RedactOptions {
  readonly secrets: Secrets;
  readonly confidential: Confidential;
  /** Whether the annotation is kept, except on Secrets. */
  readonly keepsLastApplied: boolean;
}

/** Of `kubectl apply`: a copy of the whole object, Secrets included. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** In lower case: a server ignores `Data`, but a recording must not contain it. */
const secretMembers: ReadonlySet<string> = new Set(["data", "stringdata"]);

/**
 * Returns a copy without secrets. Secrets are remembered, so that their traces in other text can be
 * removed when the recording ends.
 *
 * @param value nested at most `retainedDepthMax` deep
 */
export function redact(value: unknown, options: RedactOptions): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, options));
  if (!isObject(value)) return value;
  const confidential = confidentialOf(value) ?? options.confidential;
  const inner = { ...options, confidential };
  const pointer = operationPath(value);
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setMember(copy, key, redactMember(key, member, pointer, inner));
  return copy;
}

function redactMember(key: string, value: unknown, pointer: string | undefined, options: RedactOptions): unknown {
  const { secrets, confidential } = options;
  if (confidential === "secret" && secretMembers.has(key.toLowerCase()))
    return withoutTexts(value, secrets, key === "data");
  if (confidential === "token" && key === "token") return withoutTexts(value, secrets, false);
  if (key === lastApplied && typeof value === "string") return redactApplied(value, options);
  if (pointer === undefined || key !== "value") return redact(value, options);
  if (pointer.endsWith(`/${lastApplied.replaceAll("/", "~1")}`) && typeof value === "string")
    return redactApplied(value, options);
  const [, first = ""] = pointer.split("/");
  return confidential !== undefined && (secretMembers.has(first.toLowerCase()) || pointer.endsWith("/token"))
    ? withoutTexts(value, secrets, first === "data")
    : redact(value, options);
}

/** The kinds that contain secrets, in every group and version, and lists of them. */
function confidentialOf({ kind }: Record<string, unknown>): Confidential {
  if (kind === "Secret" || kind === "SecretList") return "secret";
  return kind === "TokenRequest" || kind === "TokenReview" ? "token" : undefined;
}

/** The path of an operation of a JSON Patch. */
function operationPath({ op, path }: Record<string, unknown>): string | undefined {
  return typeof op === "string" && typeof path === "string" ? path : undefined;
}

/** Replaces all texts and numbers. @param isBase64 as in `data` of Secrets */
function withoutTexts(value: unknown, secrets: Secrets, isBase64: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, secrets, isBase64));
  if (isObject(value)) {
    const copy: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) setMember(copy, key, withoutTexts(member, secrets, isBase64));
    return copy;
  }
  if (value === null || value === "") return value;
  const text = String(value);
  const bytes = isBase64 ? Buffer.from(text, "base64") : undefined;
  if (bytes === undefined || bytes.toString("base64") !== text) return secrets.add(Buffer.from(text)).text;
  return secrets.add(bytes).base64;
}

/** The secrets in the annotation are remembered in any case. */
function redactApplied(text: string, options: RedactOptions): string {
  const copy = parsed(text);
  const redacted = copy === undefined ? undefined : redact(copy, options);
  const isKept =
    options.keepsLastApplied && options.confidential === undefined && confidentialOf(copy ?? {}) === undefined;
  return isKept && redacted !== undefined ? JSON.stringify(redacted) : options.secrets.placeholderOf(text);
}

/** Deeper JSON in an annotation is not read. */
const nestedMax = 100;

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isWithinDepth(value, nestedMax) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes the traces of known secrets from all texts and keys of a value. */
export function cleanValue(value: unknown, secrets: Secrets): unknown {
  if (typeof value === "string") return secrets.clean(value);
  if (typeof value === "number" || typeof value === "bigint") {
    const text = String(value);
    const cleaned = secrets.clean(text);
    return cleaned === text ? value : cleaned;
  }
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, secrets));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setMember(copy, secrets.clean(key), cleanValue(member, secrets));
  return copy;
}
