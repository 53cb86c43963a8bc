/**
 * Syntax of label keys and values, with the messages of kube-apiserver.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/api/validate/content
 */

const namePattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const valuePattern = `(${namePattern})?`;
const subdomainPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const name = new RegExp(`^${namePattern}$`);
const value = new RegExp(`^${valuePattern}$`);
const subdomain = new RegExp(`^${subdomainPattern}$`);

const nameText = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${namePattern}')`;
const valueText = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${valuePattern}')`;
const subdomainText = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomainPattern}')`;

const nameBytesMax = 63;
const prefixBytesMax = 253;
const valueBytesMax = 63;

const noProblems: readonly string[] = [];

/** @returns the problems of a label key; empty for a valid one */
export function keyProblems(key: string): readonly string[] {
  if (key.length <= nameBytesMax && name.test(key)) return noProblems;
  const parts = key.split("/", 3);
  if (parts.length > 2)
    return [`a valid label key ${nameText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const own = parts.at(-1) as string;
  const problems = parts.length === 2 ? prefixProblems(parts[0] as string) : [];
  if (own === "") problems.push("name part must be non-empty");
  else if (Buffer.byteLength(own) > nameBytesMax) problems.push(`name part must be no more than ${nameBytesMax} bytes`);
  if (!name.test(own)) problems.push(`name part ${nameText}`);
  return problems;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  const problems: string[] = [];
  if (Buffer.byteLength(prefix) > prefixBytesMax)
    problems.push(`prefix part must be no more than ${prefixBytesMax} bytes`);
  if (!subdomain.test(prefix)) problems.push(`prefix part ${subdomainText}`);
  return problems;
}

/** @returns the problems of a label value; empty for a valid one */
export function valueProblems(text: string): readonly string[] {
  if (text.length <= valueBytesMax && value.test(text)) return noProblems;
  const problems: string[] = [];
  if (Buffer.byteLength(text) > valueBytesMax) problems.push(`must be no more than ${valueBytesMax} bytes`);
  if (!value.test(text)) problems.push(valueText);
  return problems;
}
