/** A plain JSON object. Its keys are data: use `memberOf` to read keys such as `__proto__`. */
export type JsonObject = Record<string, unknown>;

/** The value of an own member; safe for any key. */
export function memberOf(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
