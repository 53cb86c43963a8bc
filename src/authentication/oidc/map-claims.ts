/**
 * Maps claims to a user and validates both, with upstream's error messages.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/oidc.go.
 */

import type { UserInfo } from "../../apimachinery/user.ts";
import { type Compiled, claimsExpressions, type IdentityResult, userExpressions } from "../../cel-environment/index.ts";
import { CelList, type CelValue, type JsonValue } from "../../lib/cel/index.ts";
import { goKindOf } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { CompiledAuthenticator, CompiledRule } from "../configuration/validate.ts";
import { type Claims, member } from "./id-token.ts";

const credentialIdKey = "authentication.kubernetes.io/credential-id";

/** The claims are invalid. */
class ClaimError extends Error {}

/** @returns the user, or an error message */
export function mapClaims(authenticator: CompiledAuthenticator, claims: Claims): UserInfo | string {
  try {
    const user = {
      name: usernameOf(authenticator, claims),
      groups: groupsOf(authenticator, claims),
      uid: uidOf(authenticator, claims),
      extra: extraOf(authenticator, claims),
    };
    checkRequiredClaims(authenticator, claims);
    checkRules(authenticator.claimRules, (rule) => evaluateClaims(rule, claims), "claim validation expression");
    if (authenticator.userRules.length > 0) checkUser(authenticator.userRules, user);
    return user;
  } catch (error) {
    if (error instanceof ClaimError) return error.message;
    throw error;
  }
}

function usernameOf({ config, username }: CompiledAuthenticator, claims: Claims): string {
  if (username !== undefined) {
    const value = evaluated(evaluateClaims(username, claims), "username claim");
    if (typeof value !== "string")
      throw new ClaimError(
        "oidc: error evaluating username claim expression: username claim expression must return a string",
      );
    if (value === "") throw new ClaimError("oidc: empty username via CEL expression is not allowed");
    return value;
  }
  const { claim, prefix = "" } = config.claimMappings.username;
  const name = textClaim(claims, claim, `oidc: parse username claims ${quoteGo(claim)}`);
  if (claim === "email") checkEmailVerified(claims);
  // Upstream accepts an empty name. With a prefix, all users without a name would become one user.
  if (name === "") throw new ClaimError(`oidc: username claim ${quoteGo(claim)} is empty`);
  return prefix + name;
}

function checkEmailVerified(claims: Claims): void {
  if (!Object.hasOwn(claims, "email_verified")) return;
  const verified = claims.email_verified;
  if (verified !== null && typeof verified !== "boolean")
    throw new ClaimError(`oidc: parse 'email_verified' claim: ${cannot(verified, "bool")}`);
  if (verified !== true) throw new ClaimError("oidc: email not verified");
}

function groupsOf({ config, groups }: CompiledAuthenticator, claims: Claims): readonly string[] {
  const { claim, prefix = "" } = config.claimMappings.groups;
  if (claim !== "" && Object.hasOwn(claims, claim))
    return groupClaim(claims[claim], claim).map((group) => prefix + group);
  if (groups === undefined) return [];
  const texts = textsOf(evaluated(evaluateClaims(groups, claims), "group claim"));
  if (texts === undefined) throw new ClaimError(`oidc: error evaluating group claim expression: ${notStrings}`);
  return texts;
}

/** Accepts a string or a list of strings; null elements are empty strings. */
function groupClaim(value: unknown, claim: string): string[] {
  if (value === null) return [];
  if (typeof value === "string") return [value];
  if (!Array.isArray(value) || !value.every((one) => one === null || typeof one === "string"))
    throw new ClaimError(`oidc: parse groups claim ${quoteGo(claim)}: ${cannot(value, "string")}`);
  return value.map((one) => one ?? "");
}

function uidOf({ config, uid }: CompiledAuthenticator, claims: Claims): string {
  const { claim } = config.claimMappings.uid;
  if (claim !== "") return textClaim(claims, claim, `oidc: parse uid claim ${quoteGo(claim)}`);
  if (uid === undefined) return "";
  const value = evaluated(evaluateClaims(uid, claims), "uid claim");
  if (typeof value !== "string")
    throw new ClaimError("oidc: error evaluating uid claim expression: uid claim expression must return a string");
  return value;
}

function extraOf({ extra }: CompiledAuthenticator, claims: Claims): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const jti = member(claims, "jti");
  if (typeof jti === "string" && jti !== "") found.set(credentialIdKey, [`JTI=${jti}`]);
  for (const { key, expression } of extra) {
    const { error, value } = evaluateClaims(expression, claims);
    if (error !== undefined) throw new ClaimError(error);
    const texts = textsOf(value);
    if (texts === undefined)
      throw new ClaimError(`oidc: error evaluating extra claim expression: ${expression.text}: ${notStrings}`);
    if (texts.length > 0) found.set(key, texts);
  }
  return found;
}

function checkRequiredClaims({ config }: CompiledAuthenticator, claims: Claims): void {
  for (const { claim, requiredValue } of config.claimValidationRules) {
    if (claim === "") continue;
    if (!Object.hasOwn(claims, claim)) throw new ClaimError(`oidc: required claim ${claim} not present in ID token`);
    const value = textClaim(claims, claim, `oidc: parse claim ${claim}`);
    if (value !== requiredValue)
      throw new ClaimError(
        `oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`,
      );
  }
}

/** Evaluates all rules before it checks the results. */
function checkRules(
  rules: readonly CompiledRule[],
  evaluate: (expression: Compiled) => IdentityResult,
  what: string,
): void {
  const evaluatedRules = rules.map((rule) => ({ rule, result: evaluate(rule.expression) }));
  for (const { result } of evaluatedRules)
    if (result.error !== undefined) throw new ClaimError(`oidc: error evaluating ${what}: ${result.error}`);
  for (const { rule, result } of evaluatedRules) {
    if (result.value !== true)
      throw new ClaimError(
        `oidc: error evaluating ${what}: validation expression '${rule.expression.text}' failed: ${rule.message}`,
      );
  }
}

function checkUser(rules: readonly CompiledRule[], { name, uid, groups, extra }: UserInfo): void {
  const user = { username: name, uid, groups, extra: Object.fromEntries(extra) };
  checkRules(rules, (rule) => userExpressions().evaluate(rule, user), "user info validation rule");
}

function evaluateClaims(expression: Compiled, claims: Claims): IdentityResult {
  return claimsExpressions().evaluate(expression, claims as { readonly [name: string]: JsonValue });
}

function evaluated({ error, value }: IdentityResult, what: string): CelValue | undefined {
  if (error !== undefined) throw new ClaimError(`oidc: error evaluating ${what} expression: ${error}`);
  return value;
}

const notStrings = "expression must return a string or a list of strings";

/** Drops empty strings and null. @returns undefined for values of other types */
function textsOf(value: CelValue | undefined): string[] | undefined {
  if (value === null || value === "") return [];
  if (typeof value === "string") return [value];
  if (!(value instanceof CelList)) return undefined;
  const items = Array.from({ length: value.size }, (_, index) => (value as CelList).at(index));
  return items.every((item) => typeof item === "string") ? items.filter((item) => item !== "") : undefined;
}

/** Reads a string claim; null is an empty string. */
function textClaim(claims: Claims, claim: string, what: string): string {
  if (!Object.hasOwn(claims, claim)) throw new ClaimError(`${what}: claim not present`);
  const value = claims[claim];
  if (value === null) return "";
  if (typeof value !== "string") throw new ClaimError(`${what}: ${cannot(value, "string")}`);
  return value;
}

function cannot(value: unknown, type: string): string {
  return `json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`;
}
