/** White space as Go's strings.TrimSpace sees it. Source: https://pkg.go.dev/strings#TrimSpace. */
const space = new Set(
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
);

/** Removes white space from both ends of a text like Go's strings.TrimSpace. */
export function trimGo(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.has(text[start] as string)) start++;
  while (end > start && space.has(text[end - 1] as string)) end--;
  return text.slice(start, end);
}
