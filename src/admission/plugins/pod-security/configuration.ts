/**
 * The configuration of the plugin PodSecurity. Sources:
 * k8s.io/pod-security-admission@v0.36.0/admission/api, load/load.go, helpers.go and validation.go.
 */
import { type ConfigurationKind, decodeConfiguration } from "../../../apimachinery/configuration-file.ts";
import { configKind, configStruct, listOf, text } from "../../../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { joinErrors } from "../../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { latest, levelProblem, parseLevel, parseVersion, versionProblem } from "../../../lib/pod-security/levels.ts";
import type { Mode, Policy } from "../../../lib/pod-security/policy.ts";
import { schemeName } from "../../config/configuration-file.ts";
import { InitializationError } from "../../config/initialization-error.ts";
import type { PodSecurityConfiguration } from "./contract.ts";
import { defaultConfiguration } from "./default-configuration.ts";

const group = "pod-security.admission.config.k8s.io";
const kind = "PodSecurityConfiguration";
const modes: readonly Mode[] = ["enforce", "audit", "warn"];

const kinds: readonly ConfigurationKind[] = ["v1", "v1beta1", "v1alpha1"].map((version) => ({
  apiVersion: `${group}/${version}`,
  kind,
  schema: configKind(`${version}.${kind}`, {
    defaults: configStruct(
      `${version}.PodSecurityDefaults`,
      Object.fromEntries(modes.flatMap((mode) => [[mode, text] as const, [`${mode}-version`, text] as const])),
    ),
    exemptions: configStruct(`${version}.PodSecurityExemptions`, {
      usernames: listOf(text),
      namespaces: listOf(text),
      runtimeClasses: listOf(text),
    }),
  }),
}));

interface Fields {
  readonly defaults?: Readonly<Record<string, string>>;
  readonly exemptions?: Readonly<Record<string, readonly string[]>>;
}

/** @throws ConfigurationError, InitializationError with upstream's message */
export function parsePodSecurityConfiguration(bytes: Buffer): PodSecurityConfiguration {
  if (bytes.length === 0) return defaultConfiguration;
  const { defaults = {}, exemptions = {} } = decodeConfiguration(bytes, kinds, schemeName).object as Fields;
  const parsed = parseDefaults(defaults);
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  const errors = new FieldErrors();
  checkNames(errors, "namespaces", namespaces, dnsLabelProblems);
  checkNames(errors, "runtimeClasses", runtimeClasses, dnsSubdomainProblems);
  checkNames(errors, "usernames", usernames, (name) => (name === "" ? ["username must not be empty"] : []));
  if (!errors.empty) throw new InitializationError(`PodSecurity invalid: ${errors.text}`);
  return {
    defaults: parsed,
    exemptions: {
      usernames: new Set(usernames),
      namespaces: new Set(namespaces),
      runtimeClasses: new Set(runtimeClasses),
    },
  };
}

/** An empty field has its default. */
function parseDefaults(defaults: Readonly<Record<string, string>>): Policy {
  const problems: string[] = [];
  const read = <T>(field: string, parse: (text: string) => T | undefined, missing: T, problem: string): T => {
    const value = defaults[field] ?? "";
    if (value === "") return missing;
    const parsed = parse(value);
    if (parsed === undefined) problems.push(`${field}: ${problem}`);
    return parsed ?? missing;
  };
  const [enforce, audit, warn] = modes.map((mode) => ({
    level: read(mode, parseLevel, "privileged", levelProblem),
    version: read(`${mode}-version`, parseVersion, latest, versionProblem),
  })) as [Policy["enforce"], Policy["audit"], Policy["warn"]];
  if (problems.length > 0) throw new InitializationError(`PodSecurity configuration error: ${joinErrors(problems)}`);
  return { enforce, audit, warn };
}

function checkNames(
  errors: FieldErrors,
  field: string,
  names: readonly string[],
  problemsOf: (name: string) => readonly string[],
): void {
  const valid = new Set<string>();
  for (const [index, name] of names.entries()) {
    const path = `exemptions.${field}[${index}]`;
    const problems = problemsOf(name);
    if (problems.length > 0) errors.invalid(path, name, problems.join(", "));
    else if (valid.has(name)) errors.duplicate(path, name);
    valid.add(name);
  }
}
