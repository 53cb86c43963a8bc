/**
 * Escapes a segment of a path always in the same way, so that paths can be compared and searched.
 * Source: RFC 3986, section 3.3: these characters need no escape in a path.
 */
export function escapeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:3A|40|24|2C|3B|2B|3D|26)/g, decodeURIComponent);
}
