/** The values of flags as `/flagz` shows them. Source: k8s.io/apiserver@v0.36.0/pkg/server/flagz/flagreader.go. */
import type { Flag, FlagOptions } from "./contract.ts";
import { defaultOf } from "./defaults.ts";
import { flagGroups } from "./flag-groups.ts";
import { valueAt } from "./option-path.ts";

/**
 * @param texts the last value of each flag that was given, by its name
 * @param options the defaults, with what flags have set
 */
export function shownFlags(texts: ReadonlyMap<string, string>, options: FlagOptions): Record<string, string> {
  const all = flagGroups.flatMap(([, flags]) => flags).map((flag) => [flag.name, shown(flag, texts, options)] as const);
  return Object.fromEntries([...all, ["help", "false"], ["version", "false"]]);
}

function shown(flag: Flag, texts: ReadonlyMap<string, string>, options: FlagOptions): string {
  const value: unknown = flag.option === undefined ? undefined : valueAt(options, flag.option);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    return `[${value.map((one) => withoutUser(String(one))).join(",")}]`;
  const { format }: { format?(value: never): string } = flag.type;
  const text = texts.get(flag.name);
  if (text === undefined) return defaultOf(flag) ?? flag.unset ?? flag.upstream ?? "";
  return withoutUser(value === undefined || format === undefined ? text : format(value as never));
}

/** Hides the user and the password of a URL. */
function withoutUser(text: string): string {
  const start = text.indexOf("://");
  const end = text.indexOf("@", start);
  return start < 0 || end < 0 ? text : `${text.slice(0, start)}://REDACTED${text.slice(end)}`;
}
