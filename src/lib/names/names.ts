/**
 * Validates names, labels and keys, with upstream's messages. Source: apimachinery's
 * util/validation, api/validate/content.
 */

const labelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;
const label1035Pattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
const qualifiedPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelValuePattern = `(${qualifiedPattern})?`;
const configKeyPattern = "[-._a-zA-Z0-9]+";
const anchored = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const label = anchored(labelPattern);
const subdomain = anchored(subdomainPattern);
/** Ignores case as Go does: the Kelvin sign is a `k`. */
const subdomainOfAnyCase = new RegExp(subdomain.source, "iu");
const label1035 = anchored(label1035Pattern);
const qualified = anchored(qualifiedPattern);
const labelValue = anchored(labelValuePattern);
const configKey = anchored(configKeyPattern);

const patternText = (rule: string, pattern: string, ...examples: string[]): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;

const labelText = patternText(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelPattern,
  "my-name",
  "123-abc",
);
const subdomainText = patternText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainPattern,
  "example.com",
);
const subdomainOfAnyCaseText = patternText(
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainPattern,
  "Example.com",
);
const wildcardPattern = `\\*\\.${subdomainPattern}`;
const wildcardText = patternText(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  wildcardPattern,
  "*.example.com",
);
const label1035Text = patternText(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Pattern,
  "my-name",
  "abc-123",
);
const qualifiedText = patternText(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualifiedPattern,
  "MyName",
  "my.name",
  "123-abc",
);
const labelValueText = patternText(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValuePattern,
  "MyValue",
  "my_value",
  "12345",
);
const configKeyText = patternText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  configKeyPattern,
  "key.name",
  "KEY_NAME",
  "key-name",
);

/** A generateName may end in a dash: the suffix follows it. Upstream also masks the byte before, not the character. */
const maskTrailingDash = (text: string): string =>
  text.length > 1 && text.endsWith("-") && text.charCodeAt(text.length - 2) < 0x80 ? `${text.slice(0, -2)}a` : text;

const tooLong = (text: string, bytesMax: number): boolean =>
  text.length > bytesMax || Buffer.byteLength(text) > bytesMax;

/** Whether a text has more than a number of characters; fast for very long text. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  // No character takes more than two code units.
  return text.length > 2 * charactersMax || [...text].length > charactersMax;
}

/**
 * Validates a DNS-1123 subdomain, the form of most object names.
 * @param prefix whether the text is a generateName, to which a suffix is added
 * @returns the problems, or an empty list
 */
export function dnsSubdomainProblems(text: string, prefix = false): string[] {
  const name = prefix ? maskTrailingDash(text) : text;
  const problems: string[] = [];
  if (tooLong(name, 253)) problems.push("must be no more than 253 characters");
  if (!subdomain.test(name)) problems.push(subdomainText);
  return problems;
}

/** Validates a subdomain whose first label is a star, as for hosts of ingresses. */
export function wildcardSubdomainProblems(text: string): string[] {
  const problems: string[] = [];
  if (tooLong(text, 253)) problems.push("must be no more than 253 characters");
  if (!text.startsWith("*.") || !subdomain.test(text.slice(2))) problems.push(wildcardText);
  return problems;
}

/** Validates a DNS-1123 label, as for namespaces and containers. */
export function dnsLabelProblems(text: string, prefix = false): string[] {
  const name = prefix ? maskTrailingDash(text) : text;
  const problems: string[] = [];
  if (tooLong(name, 63)) problems.push("must be no more than 63 characters");
  if (!label.test(name)) problems.push(subdomain.test(name) ? "must not contain dots" : labelText);
  return problems;
}

/** Validates a long name of declarative validation: a subdomain whose length is in bytes. */
export const longNameProblems = (text: string): string[] => inBytes(dnsSubdomainProblems(text));
/** Validates a short name of declarative validation: a label whose length is in bytes. */
export const shortNameProblems = (text: string): string[] => inBytes(dnsLabelProblems(text));

/** Validates a long name and ignores case, as for names of drivers. */
export function longNameProblemsOfAnyCase(text: string): string[] {
  const problems: string[] = [];
  if (tooLong(text, 253)) problems.push("must be no more than 253 bytes");
  if (!subdomainOfAnyCase.test(text)) problems.push(subdomainOfAnyCaseText);
  return problems;
}

function inBytes(problems: readonly string[]): string[] {
  return problems.map((problem) => problem.replace(/^(must be no more than \d+) characters$/, "$1 bytes"));
}

/** Validates a DNS-1035 label: a DNS-1123 label that starts with a letter. */
export function dns1035LabelProblems(text: string, prefix = false): string[] {
  const name = prefix ? maskTrailingDash(text) : text;
  const problems: string[] = [];
  if (tooLong(name, 63)) problems.push("must be no more than 63 characters");
  if (!label1035.test(name)) problems.push(label1035Text);
  return problems;
}

/** Validates a name that must be one path segment, as of roles; every object name must be one. */
export function pathSegmentNameProblems(text: string, prefix = false): string[] {
  if (!prefix && (text === "." || text === "..")) return [`may not be '${text}'`];
  return ["/", "%"].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Recent valid keys: most objects use the same few. The oldest is dropped at the limit. */
const knownKeys = new Set<string>();
const knownKeysMax = 1000;

/** Validates a key of a label or annotation, or a finalizer: `name` or `example.com/name`. */
export function qualifiedNameProblems(text: string): string[] {
  if (knownKeys.has(text)) return [];
  const problems = problemsOfKey(text);
  if (problems.length > 0) return problems;
  if (knownKeys.size === knownKeysMax) knownKeys.delete(knownKeys.values().next().value as string);
  knownKeys.add(text);
  return problems;
}

function problemsOfKey(text: string): string[] {
  const parts = text.split("/", 3);
  if (parts.length > 2)
    return [
      `a valid label key ${qualifiedText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) as string;
  const problems = parts.length === 2 ? prefixProblems(parts[0] as string) : [];
  if (name === "") problems.push("name part must be non-empty");
  else if (tooLong(name, 63)) problems.push("name part must be no more than 63 bytes");
  if (!qualified.test(name)) problems.push(`name part ${qualifiedText}`);
  return problems;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  const problems: string[] = [];
  if (tooLong(prefix, 253)) problems.push("prefix part must be no more than 253 bytes");
  if (!subdomain.test(prefix)) problems.push(`prefix part ${subdomainText}`);
  return problems;
}

/** Validates the value of a label. */
export function labelValueProblems(text: string): string[] {
  const problems: string[] = [];
  if (tooLong(text, 63)) problems.push("must be no more than 63 bytes");
  if (!labelValue.test(text)) problems.push(labelValueText);
  return problems;
}

/** Validates a key of a ConfigMap or Secret, which can become a file name. */
export function configMapKeyProblems(text: string): string[] {
  const problems: string[] = [];
  if (tooLong(text, 253)) problems.push("must be no more than 253 characters");
  if (!configKey.test(text)) problems.push(configKeyText);
  if (text === "." || text === "..") problems.push(`must not be '${text}'`);
  else if (text.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Validates a finalizer of a built-in kind: a standard one, or one with a domain prefix. */
export function finalizerProblems(text: string): string[] {
  return text.includes("/") || standardFinalizers.has(text)
    ? []
    : ["name is neither a standard finalizer name nor is it fully qualified"];
}

/** Validates the name of a container port: at most 15 characters, with a letter. */
export function portNameProblems(text: string): string[] {
  const problems: string[] = [];
  if (tooLong(text, 15)) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(text)) problems.push("must contain at least one letter (a-z)");
  if (text.includes("--")) problems.push("must not contain consecutive hyphens");
  if (text.startsWith("-") || text.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** Validates a port number. */
export function portNumberProblems(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];
}
