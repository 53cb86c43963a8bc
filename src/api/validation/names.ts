/** What names, labels and keys may look like, with upstream's texts. Source: apimachinery's util/validation. */

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** A generateName may end in a dash: the suffix follows it. */
const maskTrailingDash = (text: string): string => (text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text);

/** DNS-1123 subdomain: what most objects are named by. @param prefix whether the text is a generateName */
export function dnsSubdomainProblems(text: string, prefix = false): string[] {
  const name = prefix ? maskTrailingDash(text) : text;
  const problems: string[] = [];
  if (name.length > 253) problems.push("must be no more than 253 characters");
  if (!subdomain.test(name)) problems.push(subdomainText);
  return problems;
}
