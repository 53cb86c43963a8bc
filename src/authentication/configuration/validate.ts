/**
 * Validates an AuthenticationConfiguration and compiles its expressions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation.go.
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import {
  type Compiled,
  claimsExpressions,
  type IdentityExpressions,
  userExpressions,
} from "../../cel-environment/index.ts";
import { boolType, children, type Expr } from "../../lib/cel/index.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import type {
  AnonymousConfiguration,
  AuthenticationConfiguration,
  ClaimMappings,
  ClaimOrExpression,
  ClaimValidationRule,
  ExtraMapping,
  JwtAuthenticator,
  PrefixedClaimOrExpression,
  UserValidationRule,
} from "./configuration.ts";
import { type IssuerLimits, validateIssuer } from "./validate-issuer.ts";

/** An authenticator with its compiled expressions. */
export interface CompiledAuthenticator {
  readonly config: JwtAuthenticator;
  readonly claimRules: readonly CompiledRule[];
  readonly userRules: readonly CompiledRule[];
  readonly username?: Compiled;
  readonly groups?: Compiled;
  readonly uid?: Compiled;
  readonly extra: readonly { readonly key: string; readonly expression: Compiled }[];
}

/** A rule with its compiled expression. */
export interface CompiledRule {
  readonly expression: Compiled;
  readonly message: string;
}

/** The result of {@link validateConfiguration}. */
export interface Validated {
  readonly errors: FieldErrors;
  /** Valid only without errors. */
  readonly authenticators: readonly CompiledAuthenticator[];
}

const authenticatorsMax = 64;

/** Validates a configuration with upstream's messages. */
export function validateConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  options: IssuerLimits,
): Validated {
  const errors = new FieldErrors();
  if (jwt.length > authenticatorsMax) {
    errors.tooMany("jwt", jwt.length, authenticatorsMax);
    return { errors, authenticators: [] };
  }
  const issuers = new Set<string>();
  const discoveryUrls = new Set<string>();
  const authenticators = jwt.map((config, index) => {
    const path = `jwt[${index}]`;
    const { url, discoveryUrl } = config.issuer;
    const compiled = new AuthenticatorCompiler(errors, path).compile(config, options);
    if (issuers.has(url)) errors.duplicate(`${path}.issuer.url`, url);
    issuers.add(url);
    if (discoveryUrls.has(discoveryUrl)) errors.duplicate(`${path}.issuer.discoveryURL`, discoveryUrl);
    if (discoveryUrl !== "") discoveryUrls.add(discoveryUrl);
    return compiled;
  });
  if (anonymous !== undefined) validateAnonymous(anonymous, errors);
  return { errors, authenticators };
}

function validateAnonymous({ enabled, conditions }: AnonymousConfiguration, errors: FieldErrors): void {
  if (enabled || conditions.length === 0) return;
  const shown = conditions.map(({ path }) => ({ Path: path })); // Upstream's message contains its Go structs.
  errors.invalid("anonymous.conditions", shown, "enabled should be set to true when conditions are defined");
}

const emailRule =
  "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";

class AuthenticatorCompiler {
  readonly #errors: FieldErrors;
  readonly #path: string;
  readonly #claims = claimsExpressions();
  readonly #user = userExpressions();

  constructor(errors: FieldErrors, path: string) {
    this.#errors = errors;
    this.#path = path;
  }

  compile(config: JwtAuthenticator, options: IssuerLimits): CompiledAuthenticator {
    validateIssuer(config.issuer, `${this.#path}.issuer`, options, this.#errors);
    const claimRules = this.#claimRules(config.claimValidationRules);
    const mappings = this.#mappings(config.claimMappings, claimRules);
    return { config, claimRules, ...mappings, userRules: this.#userRules(config.userValidationRules) };
  }

  /** Compiles an expression. @returns undefined and adds a field error when it is invalid */
  #expression(
    text: string,
    path: string,
    expressions: IdentityExpressions,
    returns?: Parameters<IdentityExpressions["compile"]>[1],
  ): Compiled | undefined {
    const compiled = expressions.compile(text, returns);
    if (compiled.error === undefined) return compiled;
    this.#errors.invalid(path, text, compiled.error);
    return undefined;
  }

  #claimRules(rules: readonly ClaimValidationRule[]): CompiledRule[] {
    const claims = new Set<string>();
    const expressions = new Set<string>();
    return rules.flatMap(({ claim, requiredValue, expression, message }, index) => {
      const path = `${this.#path}.claimValidationRules[${index}]`;
      if (claim !== "" && expression !== "")
        this.#errors.invalid(path, claim, "claim and expression can't both be set");
      else if (claim === "" && expression === "") this.#errors.required(path, "claim or expression is required");
      else if (claim !== "") {
        if (message !== "") this.#errors.invalid(`${path}.message`, message, "may not be specified when claim is set");
        if (claims.has(claim)) this.#errors.duplicate(`${path}.claim`, claim);
        claims.add(claim);
      } else {
        if (requiredValue !== "")
          this.#errors.invalid(`${path}.requiredValue`, requiredValue, "may not be specified when expression is set");
        return this.#rule({ expression, message }, path, expressions, this.#claims);
      }
      return [];
    });
  }

  #userRules(rules: readonly UserValidationRule[]): CompiledRule[] {
    const expressions = new Set<string>();
    return rules.flatMap((rule, index) => {
      const path = `${this.#path}.userValidationRules[${index}]`;
      if (rule.expression !== "") return this.#rule(rule, path, expressions, this.#user);
      this.#errors.required(`${path}.expression`);
      return [];
    });
  }

  /** @param seen the previous expressions */
  #rule(
    { expression: text, message }: UserValidationRule,
    path: string,
    seen: Set<string>,
    expressions: IdentityExpressions,
  ): CompiledRule[] {
    if (seen.has(text)) {
      this.#errors.duplicate(`${path}.expression`, text);
      return [];
    }
    seen.add(text);
    const expression = this.#expression(text, `${path}.expression`, expressions, [boolType]);
    return expression === undefined ? [] : [{ expression, message }];
  }

  #mappings(
    mappings: ClaimMappings,
    claimRules: readonly CompiledRule[],
  ): Pick<CompiledAuthenticator, "username" | "groups" | "uid" | "extra"> {
    const path = `${this.#path}.claimMappings`;
    const username = this.#prefixed(mappings.username, `${path}.username`);
    if (mappings.username.claim === "" && mappings.username.expression === "")
      this.#errors.required(`${path}.username`, "claim or expression is required");
    const groups = this.#prefixed(mappings.groups, `${path}.groups`);
    const uid = this.#claimOrExpression(mappings.uid, `${path}.uid`);
    const extra = this.#extra(mappings.extra, `${path}.extra`);
    const verifying = [...(username === undefined ? [] : [username]), ...extra, ...claimRules].map((one) =>
      "expression" in one ? one.expression : one,
    );
    if (
      username !== undefined &&
      usesClaim(username, "email") &&
      !verifying.some((one) => usesClaim(one, "email_verified"))
    )
      this.#errors.invalid(`${path}.username.expression`, mappings.username.expression, emailRule);
    return { ...(username && { username }), ...(groups && { groups }), ...(uid && { uid }), extra };
  }

  #prefixed(mapping: PrefixedClaimOrExpression, path: string): Compiled | undefined {
    const { claim, expression, prefix } = mapping;
    if (claim !== "" && expression === "" && prefix === undefined)
      this.#errors.required(
        `${path}.prefix`,
        "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
      );
    const isWrong = claim === "" && expression !== "" && prefix !== undefined;
    if (isWrong) this.#errors.invalid(`${path}.prefix`, prefix, "may not be specified when expression is set");
    const compiled = this.#claimOrExpression(mapping, path);
    return isWrong ? undefined : compiled;
  }

  #claimOrExpression({ claim, expression }: ClaimOrExpression, path: string): Compiled | undefined {
    if (expression === "") return undefined;
    if (claim === "") return this.#expression(expression, `${path}.expression`, this.#claims);
    this.#errors.invalid(path, "", "claim and expression can't both be set");
    return undefined;
  }

  #extra(mappings: readonly ExtraMapping[], path: string): CompiledAuthenticator["extra"] {
    const keys = new Set<string>();
    return mappings.flatMap(({ key, valueExpression }, index) => {
      const at = `${path}[${index}]`;
      validateExtraKey(key, `${at}.key`, this.#errors);
      if (keys.has(key)) {
        this.#errors.duplicate(`${at}.key`, key);
        return [];
      }
      keys.add(key);
      if (valueExpression === "") {
        this.#errors.required(`${at}.valueExpression`);
        return [];
      }
      const expression = this.#expression(valueExpression, `${at}.valueExpression`, this.#claims);
      return expression === undefined ? [] : [{ key, expression }];
    });
  }
}

function validateExtraKey(key: string, path: string, errors: FieldErrors): void {
  validateDomainPrefixedPath(key, path, errors);
  if (key !== key.toLowerCase()) errors.invalid(path, key, "must be lowercase");
  if (/^(?:[^/]*\.)?(?:kubernetes|k8s)\.io\//.test(key))
    errors.invalid(path, key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
}

const pathPattern = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;
const wholePath = new RegExp(`^${pathPattern}$`);

/** Source: k8s.io/apimachinery@v0.36.0/pkg/util/validation/validation.go. */
function validateDomainPrefixedPath(text: string, path: string, errors: FieldErrors): void {
  if (text === "") return errors.required(path);
  const slash = text.indexOf("/");
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash <= 0 || rest === "")
    return errors.invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  for (const problem of dnsSubdomainProblems(domain)) errors.invalid(path, domain, problem);
  if (!wholePath.test(rest)) errors.invalid(path, rest, `Invalid path (regex used for validation is '${pathPattern}')`);
}

/**
 * @returns whether the expression contains `claims.<name>` or `claims.?<name>`; as upstream,
 *   ignores `claims["<name>"]`
 */
function usesClaim({ checked }: Compiled, name: string): boolean {
  return checked !== undefined && reads(checked.root, name);
}

function reads(expr: Expr, name: string): boolean {
  if (expr.kind === "select" && isClaims(expr.operand) && expr.field === name) return true;
  if (expr.kind === "call" && expr.target === undefined && expr.name === "_?._") {
    const [operand, field] = expr.args;
    if (operand !== undefined && isClaims(operand) && field?.kind === "constant" && field.value === name) return true;
  }
  return children(expr).some((child) => reads(child, name));
}

function isClaims(expr: Expr): boolean {
  return expr.kind === "identifier" && expr.name === "claims";
}
