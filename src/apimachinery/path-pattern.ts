import { trimEndOf } from "../lib/text/trim.ts";

/**
 * Whether a pattern of nonResourceURLs matches the path. A `*` at the end matches any suffix. If
 * `path` is a pattern, too: whether the first covers the second. Source: `NonResourceURLMatches` in
 * k8s.io/kubernetes@v1.36.0/pkg/apis/rbac/v1/evaluation_helpers.go.
 */
export function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(trimEndOf(pattern, "*")));
}
