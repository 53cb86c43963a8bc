/**
 * The property name of a field in the classes of client-node, before reserved words are renamed.
 */
export function clientFieldName(field: string): string {
  return field.replace(/^[_$]+/, "").replace(/[^A-Za-z0-9]/g, "_");
}
