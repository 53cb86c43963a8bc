/** What becomes of claims, held against upstream's own code: `tools/golden/authentication`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readAuthenticationConfiguration } from "../configuration/configuration.ts";
import { type CompiledAuthenticator, validateConfiguration } from "../configuration/validate.ts";
import { checkIdToken, wholeIssuer } from "./id-token.ts";
import { mapClaims } from "./map-claims.ts";

interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[] | null;
  readonly extra: Readonly<Record<string, readonly string[]>> | null;
}

interface Token {
  readonly claims: string;
  readonly user?: User;
  readonly unknown?: boolean;
  readonly error?: string;
}

interface Row {
  readonly what: string;
  readonly config?: string;
  readonly error?: string;
  readonly tokens?: readonly Token[];
}

const golden = readFileSync(join(import.meta.dirname, "../configuration/testdata/golden.jsonl"), "utf8");
const rows = golden
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Row => JSON.parse(line) as Row);

/** Where we are otherwise, and why. */
const otherwise: readonly [what: RegExp, claims: RegExp, why: string][] = [
  [/a claim$/, /"ISS"/, "names of claims are taken as they stand; Go takes them in any case"],
  [/'foo.bar' in claims|size\(claims\)/, /./, "claims are a map; upstream's knows its keys one by one alone"],
  [/claims\.(?:exists|filter)\(k/, /"sub"/, "a map's keys are what a macro goes over; upstream's goes over values"],
  [/claims\.all\(k/, /"x"/, "the same"],
  [/type\(claims\)/, /./, "a map's type is map"],
  [/a claim$/, /"sub": (?:""|null)/, "an empty user name is an error"],
  [/split\(','\)$/, /./, "texts that a function made are a list of texts too"],
];

const now = Date.now();

function check(compiled: readonly CompiledAuthenticator[], claims: string): unknown {
  const issuer = issuerOf(claims);
  const found = compiled.find(({ config }) => config.issuer.url === issuer);
  if (found === undefined) return "unknown";
  const { url, audiences } = found.config.issuer;
  const checked = checkIdToken(Buffer.from(claims), { issuer: url, audiences, now });
  if (typeof checked === "string") return withoutTimes(`oidc: verify token: ${checked}`);
  const user = mapClaims(found, checked.claims);
  return typeof user === "string" ? user : { ...user, extra: Object.fromEntries(user.extra) };
}

/** As the library peeks. */
function issuerOf(claims: string): string | undefined {
  try {
    const { iss } = JSON.parse(claims) as { iss?: unknown };
    return typeof iss === "string" ? wholeIssuer(iss) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function withoutTimes(text: string): string {
  return text.replace(/(token is expired|current time ).*$/, "$1");
}

function wanted({ user, unknown, error = "" }: Token): unknown {
  if (user !== undefined) return { ...user, groups: user.groups ?? [], extra: user.extra ?? {} };
  return unknown === true ? "unknown" : withoutTimes(error);
}

for (const { what, config = "", error = "", tokens = [] } of rows) {
  if (tokens.length === 0 || error !== "") continue;
  test(`claims: ${what}`, () => {
    const { authenticators } = validateConfiguration(readAuthenticationConfiguration(Buffer.from(config)), {
      disallowedIssuers: [],
      egressSelectorAllowed: true,
    });
    for (const token of tokens) {
      const found = check(authenticators, token.claims);
      const isOtherwise = otherwise.some(([row, claims]) => row.test(what) && claims.test(token.claims));
      if (isOtherwise) assert.notDeepEqual(found, wanted(token), token.claims);
      else assert.deepEqual(found, wanted(token), token.claims);
    }
  });
}
