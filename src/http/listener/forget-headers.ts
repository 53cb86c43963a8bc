/**
 * Removes headers from a request.
 * @param rawHeaders names and values alternately
 * @param headers the same by lower-case name
 * @param isMeant receives lower-case names
 */
export function forgetHeaders(
  rawHeaders: string[],
  headers: Record<string, unknown>,
  isMeant: (name: string) => boolean,
): void {
  let kept = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (isMeant(name)) {
      delete headers[name];
    } else {
      rawHeaders[kept++] = rawHeaders[at] as string;
      rawHeaders[kept++] = rawHeaders[at + 1] as string;
    }
  }
  rawHeaders.length = kept;
}
