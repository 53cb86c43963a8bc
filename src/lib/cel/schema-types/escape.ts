/** Names of properties as expressions write them. Source: access-control §2.3; k8s.io/apiserver pkg/cel/escaping.go */

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
const unescapes = new Map([...escapes].map(([what, name]) => [name, what]));

export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** @returns undefined when the name cannot be written: expressions have no access to the property */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => `__${escapes.get(part)}__`);
}

/** @returns undefined when no name is written so */
export function unescapeName(written: string): string | undefined {
  let valid = true;
  const name = written.replace(/__([^_]+)__/g, (whole, within: string) => {
    const part = unescapes.get(within);
    if (part !== undefined) return part;
    if (!reserved.has(within) || whole !== written) valid = false;
    return within;
  });
  return valid ? name : undefined;
}
