/** Objects without what differs between two runs of a test, for snapshots. */

/** Options of {@link stable}. */
export interface StableOptions {
  /** Other texts and their placeholders, such as the namespace of the test. They are replaced in longer texts, too. */
  readonly names?: Readonly<Record<string, string>>;
}

/**
 * Copies an object, or a list of objects, for a comparison with a snapshot. The same objects have the same copy in
 * each run:
 *
 * - `managedFields` are omitted, and keys are sorted.
 * - `resourceVersion` and times become `<resourceVersion>` and `<time>`.
 * - Uids, cluster IPs, node ports, and names that the server has generated become `<uid-1>`, `<uid-2>` and so on; the same
 *   value has the same placeholder everywhere.
 *
 * @example
 * ```ts
 * import { stable } from "coxswain/testing";
 *
 * const uid = "7bd8ce4f-1f0b-4d0c-a6a4-3f2f4f2ea6f5";
 * const pod = { metadata: { uid, name: "web-x7x2k", generateName: "web-", resourceVersion: "812" } };
 * console.log(Object.values(stable(pod).metadata).join(" ")); // web- web-<name-1> <resourceVersion> <uid-1>
 * ```
 */
export function stable<T>(value: T, { names = {} }: StableOptions = {}): T {
  const generated = [...generatedNames(value)].map(
    ([name, prefix], at) => [name, `${prefix}<name-${at + 1}>`] as const,
  );
  const texts = new Map([...generated, ...Object.entries(names)]);
  return copyOf(value, "", { texts, placeholders: new Map(), counts: new Map() }) as T;
}

/** What one copy has replaced. */
interface Replaced {
  /** Texts that are replaced wherever they are. */
  readonly texts: ReadonlyMap<string, string>;
  /** Of values, by their kind and text. */
  readonly placeholders: Map<string, string>;
  /** Placeholders of each kind. */
  readonly counts: Map<string, number>;
}

const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const numbered: Readonly<Record<string, string>> = {
  clusterIP: "ip",
  clusterIPs: "ip",
  nodePort: "port",
  healthCheckNodePort: "port",
};

/** Admission generates the rest of the name of a volume that a pod gets. */
const tokenVolume = "kube-api-access-";

/** @returns the names that the server has generated, with their prefixes */
function generatedNames(value: unknown, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (typeof value !== "object" || value === null) return found;
  const { generateName, name } = value as { readonly generateName?: unknown; readonly name?: unknown };
  const prefix = typeof generateName === "string" ? generateName : tokenVolume;
  if (typeof name === "string" && name.startsWith(prefix)) found.set(name, prefix);
  for (const member of Object.values(value)) generatedNames(member, found);
  return found;
}

/** @param key the member that has the value, or that has the list with the value */
function copyOf(value: unknown, key: string, replaced: Replaced): unknown {
  if (value instanceof Date) return "<time>";
  if (Array.isArray(value)) return value.map((item) => copyOf(item, key, replaced));
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([name, member]) => name !== "managedFields" && member !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members.map(([name, member]) => [name, copyOf(member, name, replaced)]));
  }
  const kind = Object.hasOwn(numbered, key) ? numbered[key] : undefined;
  if (kind !== undefined && value !== "None" && value !== "") return placeholder(kind, String(value), replaced);
  if (typeof value !== "string") return value;
  if (key === "resourceVersion") return "<resourceVersion>";
  if (timePattern.test(value)) return "<time>";
  if (uidPattern.test(value)) return placeholder("uid", value, replaced);
  return withNames(value, replaced.texts);
}

function placeholder(kind: string, text: string, { placeholders, counts }: Replaced): string {
  const key = `${kind} ${text}`;
  const known = placeholders.get(key);
  if (known !== undefined) return known;
  const number = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, number);
  placeholders.set(key, `<${kind}-${number}>`);
  return `<${kind}-${number}>`;
}

/** Replaces whole names only: `test-1` is not a part of `test-10`. */
function withNames(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text;
  return text.replace(/[\w-]+/g, (name) => names.get(name) ?? name);
}
