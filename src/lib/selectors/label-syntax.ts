/** What keys and values of labels may be, with upstream's texts. Source: apimachinery's util/validation. */

const name = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const value = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const nameText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

export function keyProblems(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2) return [`a valid label key ${nameText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const problems: string[] = [];
  const [prefix, own] = parts.length === 2 ? (parts as [string, string]) : [undefined, key];
  if (prefix === "") problems.push("prefix part must be non-empty");
  else if (prefix !== undefined && prefix.length > 253) problems.push("prefix part must be no more than 253 characters");
  else if (prefix !== undefined && !subdomain.test(prefix)) problems.push(`prefix part ${subdomainText}`);
  if (own === "") problems.push("name part must be non-empty");
  else if (own.length > 63) problems.push("name part must be no more than 63 characters");
  if (!name.test(own)) problems.push(`name part ${nameText}`);
  return problems;
}

export function valueProblems(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 63) problems.push("must be no more than 63 characters");
  if (!value.test(text)) problems.push(valueText);
  return problems;
}
