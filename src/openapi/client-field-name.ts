/** The name of a field as a property of client-node's classes, as far as it follows from the field's name alone. */
export function clientFieldName(field: string): string {
  return field.replace(/^[_$]+/, "").replace(/[^A-Za-z0-9]/g, "_");
}
