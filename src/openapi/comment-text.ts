/** The text of a comment in a type declaration, without its stars and annotations. */
export function commentText(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .filter((line) => !/^(?:Defaults to: |@)/.test(line))
    .join("\n")
    .trim();
}
