/** Paths as rules write them: a star at the end stands for any rest. Source: access-control §5.3.5 */

/** Also of two patterns: whether the one covers the other. */
export function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));
}
