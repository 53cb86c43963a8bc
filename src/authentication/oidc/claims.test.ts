/** Users and errors from claims equal upstream's, as recorded by tools/golden/authentication. */
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

/** The differences from upstream, and the reasons. */
const differences: readonly [what: RegExp, claims: RegExp, why: string][] = [
  [/a claim$/, /"ISS"/, "names of claims are case-sensitive; Go's decoder ignores case"],
  [/'foo.bar' in claims|size\(claims\)/, /./, "claims are a map; upstream's value supports access to single keys only"],
  [/claims\.(?:exists|filter)\(k/, /"sub"/, "macros iterate over the keys of a map; upstream's iterate over values"],
  [/claims\.all\(k/, /"x"/, "macros iterate over the keys of a map; upstream's iterate over values"],
  [/type\(claims\)/, /./, "the type of claims is map"],
  [/a claim$/, /"sub": (?:""|null)/, "an empty user name is an error"],
  [/split\(','\)$/, /./, "the result of split is a list of strings"],
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

/** Reads the issuer without verification. */
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

function expectedOf({ user, unknown, error = "" }: Token): unknown {
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
      const isDifference = differences.some(([row, claims]) => row.test(what) && claims.test(token.claims));
      if (isDifference) assert.notDeepEqual(found, expectedOf(token), token.claims);
      else assert.deepEqual(found, expectedOf(token), token.claims);
    }
  });
}
