/**
 * Escaping of property names in expressions. Source: Kubernetes docs, Common Expression Language in
 * Kubernetes, Escaping; k8s.io/apiserver@v0.36.0/pkg/cel/escaping.go
 */

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes = new Map([
  ["__", "underscores"],
  [".", "dot"],
  ["-", "dash"],
  ["/", "slash"],
]);
const unescapes = new Map([...escapes].map(([text, name]) => [name, text]));

/** Whether a name is a reserved word of the language. */
export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** Escapes a property name. @returns undefined for a name that expressions cannot access */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => `__${escapes.get(part)}__`);
}

/** Returns the property name. @returns undefined for an invalid escaped name */
export function unescapeName(escaped: string): string | undefined {
  let valid = true;
  const name = escaped.replace(/__([^_]+)__/g, (whole, within: string) => {
    const part = unescapes.get(within);
    if (part !== undefined) return part;
    if (!reserved.has(within) || whole !== escaped) valid = false;
    return within;
  });
  return valid ? name : undefined;
}
