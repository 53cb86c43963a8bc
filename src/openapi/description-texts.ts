/** The texts of descriptions, as the packages have them. */

/**
 * Descriptions by the names of types in the packages (`IoK8sApiCoreV1Pod`, `V1Pod`); the empty
 * field name is that of the type itself.
 */
export interface DescriptionTexts {
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly parameters: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * The property name of a field in the classes of client-node, before reserved words are renamed.
 */
export function clientFieldName(field: string): string {
  return field.replace(/^[_$]+/, "").replace(/[^A-Za-z0-9]/g, "_");
}

/** The text of a comment in a type declaration, without its stars and annotations. */
export function commentText(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .filter((line) => !/^(?:Defaults to: |@)/.test(line))
    .join("\n")
    .trim();
}
