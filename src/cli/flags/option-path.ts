/** Options by their path: `audit.log.path` is the `path` of the `log` of the option `audit`. */

/** Values that are set as a whole: texts, numbers, lists and maps. */
type Whole = string | number | boolean | readonly unknown[] | ReadonlyMap<unknown, unknown>;

/** Whether a type has options of its own. */
type HasOptions<T> = T extends Whole ? false : string extends keyof T ? false : true;

/** The path of each option. */
export type PathOf<T> = {
  [Key in keyof T & string]-?: HasOptions<NonNullable<T[Key]>> extends true
    ? `${Key}.${PathOf<NonNullable<T[Key]>>}`
    : Key;
}[keyof T & string];

/** The type of an option that is set. */
export type ValueAt<T, Path extends string> = Path extends `${infer Key extends keyof T & string}.${infer Rest}`
  ? ValueAt<NonNullable<T[Key]>, Rest>
  : Path extends keyof T
    ? NonNullable<T[Path]>
    : never;

/** @returns the option at a path; undefined if it, or an option around it, is not set */
export function valueAt(options: object, path: string): unknown {
  let value: unknown = options;
  for (const key of path.split(".")) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}

/** @returns a copy of the options with another value at a path */
export function withValue<T extends object>(options: T, path: string, value: unknown): T {
  const [key, rest] = splitOnce(path);
  const inner = (options as Record<string, object | undefined>)[key];
  return { ...options, [key]: rest === undefined ? value : withValue(inner ?? {}, rest, value) };
}

function splitOnce(path: string): [key: string, rest: string | undefined] {
  const dot = path.indexOf(".");
  return dot < 0 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)];
}
