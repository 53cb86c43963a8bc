/**
 * Parsing of image names.
 * Source: `github.com/distribution/reference@v0.6.0/regexp.go`.
 */

const domainPart = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const pathPart = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
// Bounded: `lengthMax`.
const grammar = new RegExp(
  `^((?:${domain}/)?${pathPart}(?:/${pathPart})*)(?::([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

/** Longer texts are invalid and are not matched. */
const lengthMax = 1024;
const nameLengthMax = 255;

const digestLengths: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

/**
 * @returns the tag; `latest` without a tag and a digest; empty for a digest without a tag and for
 *   invalid names
 */
export function imageTag(image: string): string {
  if (image === "" || image.length > lengthMax || /^[a-f0-9]{64}$/.test(image)) return "";
  const full = withDomain(image);
  const match = grammar.exec(full);
  if (match === null) return "";
  const [, name = "", tag, digest] = match;
  if (pathOf(name).length > nameLengthMax || (digest !== undefined && !isDigest(digest))) return "";
  return tag ?? (digest === undefined ? "latest" : "");
}

/** Expands `nginx` to `docker.io/library/nginx`. */
function withDomain(image: string): string {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first);
  const [host, rest] = isDomain ? [first, image.slice(slash + 1)] : ["docker.io", image];
  const isHub = host === "docker.io" || host === "index.docker.io";
  return isHub ? `docker.io/${rest.includes("/") ? rest : `library/${rest}`}` : `${host}/${rest}`;
}

const pathOf = (name: string): string => name.slice(name.indexOf("/") + 1);

function isDigest(digest: string): boolean {
  const [algorithm = "", hex = ""] = digest.split(":");
  return digestLengths.get(algorithm) === hex.length && /^[a-f0-9]+$/.test(hex);
}
