/**
 * Verifies issuer, audience and dates of an ID token, with the error messages of
 * github.com/coreos/go-oidc.
 */
import { goKindOf } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";

/**
 * The claims of a token. Names are arbitrary, so callers must read own properties only, see {@link
 * member}.
 */
export type Claims = { readonly [name: string]: unknown };

interface IdTokenChecks {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The verified claims, or an error message. `expiresAt` is in milliseconds since 1970. */
export type CheckedClaims = { readonly claims: Claims; readonly expiresAt: number } | string;

/** The tolerance for `nbf`. There is none for `exp`. */
const notBeforeLeewayMs = 60_000;

const googleIssuer = "https://accounts.google.com";

/** Adds the scheme, which Google omits. */
export function wholeIssuer(issuer: string): string {
  return issuer === "accounts.google.com" ? googleIssuer : issuer;
}

/**
 * Checks a payload whose signature is valid. The library's own check has one tolerance for both
 * dates, so it is not used.
 */
export function checkIdToken(payload: Buffer, { issuer, audiences, now }: IdTokenChecks): CheckedClaims {
  const claims = readClaims(payload);
  if (typeof claims === "string") return `oidc: failed to unmarshal claims: ${claims}`;
  const problem = sourcesProblem(claims);
  if (problem !== undefined) return problem;
  const { iss, aud, exp, nbf } = claims as { readonly [name: string]: unknown };
  const tokenIssuer = textOf(iss);
  if (tokenIssuer !== issuer && wholeIssuer(tokenIssuer) !== issuer)
    return `oidc: id token issued by a different provider, expected ${quoteGo(issuer)} got ${quoteGo(tokenIssuer)}`;
  const found = audiencesOf(aud);
  if (!found.some((audience) => audiences.includes(audience))) return audienceProblem(audiences, found);
  const expiresAt = timeOf(exp);
  if (expiresAt === undefined || expiresAt < now)
    return `oidc: token is expired (Token Expiry: ${formatTime(expiresAt)})`;
  const notBefore = timeOf(nbf);
  if (notBefore !== undefined && now + notBeforeLeewayMs < notBefore)
    return `oidc: current time ${formatTime(now)} before the nbf (not before) time: ${formatTime(notBefore)}`;
  return { claims, expiresAt };
}

function readClaims(payload: Buffer): Claims | string {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "invalid JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `json: cannot unmarshal ${goKindOf(value)} into Go value of type oidc.idToken`;
  const claims = value as Claims;
  for (const name of Object.keys(claims)) {
    const problem = checks.get(name)?.(claims[name], name);
    if (problem !== undefined) return problem;
  }
  return claims;
}

const cannot = (value: unknown, field: string, type: string): string =>
  `json: cannot unmarshal ${goKindOf(value)} into Go struct field idToken.${field} of type ${type}`;

type Check = (value: unknown, name: string) => string | undefined;

const isString: Check = (value, name) =>
  value === null || typeof value === "string" ? undefined : cannot(value, name, "string");

const isAudience: Check = (value, name) => {
  if (!Array.isArray(value))
    return value === null || typeof value === "string" ? undefined : cannot(value, name, "[]string");
  const other = value.find((one) => one !== null && typeof one !== "string");
  return other === undefined ? undefined : cannot(other, name, "string");
};

const isTime: Check = (value, name) => {
  if (typeof value === "number") return undefined;
  if (value === null) return name === "nbf" ? undefined : 'strconv.ParseFloat: parsing "": invalid syntax';
  if (typeof value !== "string") return cannot(value, name, "json.Number");
  return isNumber(value)
    ? undefined
    : `json: invalid number literal, trying to unmarshal ${quoteGo(quoteGo(value))} into Number`;
};

const isNumber = (text: string): boolean => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);

const isStringMap: Check = (value, name) => {
  if (value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) return cannot(value, name, "map[string]string");
  const other = Object.values(value).find((one) => one !== null && typeof one !== "string");
  return other === undefined ? undefined : cannot(other, name, "string");
};

const isSources: Check = (value, name) => {
  if (value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) return cannot(value, name, "map[string]oidc.claimSource");
  for (const source of Object.values(value) as unknown[]) {
    if (source === null) continue;
    if (typeof source !== "object" || Array.isArray(source)) return cannot(source, name, "oidc.claimSource");
    for (const field of ["endpoint", "access_token"]) {
      const text = member(source as Claims, field);
      if (text !== undefined && text !== null && typeof text !== "string")
        return cannot(text, `${name}.${field}`, "string");
    }
  }
  return undefined;
};

/** The claims that must have a certain type. */
const checks: ReadonlyMap<string, Check> = new Map([
  ["iss", isString],
  ["sub", isString],
  ["aud", isAudience],
  ["exp", isTime],
  ["iat", isTime],
  ["nbf", isTime],
  ["nonce", isString],
  ["at_hash", isString],
  ["_claim_names", isStringMap],
  ["_claim_sources", isSources],
]);

/** @returns an own property; undefined for inherited ones */
export function member(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function sourcesProblem(claims: Claims): string | undefined {
  const names = (member(claims, "_claim_names") ?? {}) as Claims;
  const sources = (member(claims, "_claim_sources") ?? {}) as Claims;
  for (const source of Object.values(names)) {
    if (source === "" || source === null) return "oidc: failed to obtain source from claim name";
    if (!Object.hasOwn(sources, source as string)) return "oidc: source does not exist";
  }
  return undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function audiencesOf(aud: unknown): string[] {
  if (aud === undefined) return [];
  return (Array.isArray(aud) ? aud : [aud]).map(textOf);
}

function audienceProblem(audiences: readonly string[], found: readonly string[]): string {
  const list = (texts: readonly string[]): string => `[${texts.map(quoteGo).join(" ")}]`;
  if (audiences.length === 1) return `oidc: expected audience ${quoteGo(audiences[0] as string)} got ${list(found)}`;
  return `oidc: expected audience in ${list(audiences.toSorted())} got ${list(found)}`;
}

/** @returns milliseconds since 1970; undefined for numbers beyond the range of Go's time */
function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = Math.trunc(Number(value));
  return Math.abs(seconds) < 2 ** 53 ? seconds * 1000 : undefined;
}

function formatTime(ms: number | undefined): string {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime())
    ? "0001-01-01 00:00:00 +0000 UTC"
    : `${date.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
}
