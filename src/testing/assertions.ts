/** Checks of objects. Their errors show the actual state. */

/** An object of any kind, from any client; checks read only what is here. */
export interface ObjectLike {
  /** Such as `Pod`. */
  readonly kind?: string | undefined;
  /** What all kinds have. */
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly uid?: string | undefined;
        readonly ownerReferences?: readonly OwnerLike[] | undefined;
        readonly managedFields?: readonly FieldManagerLike[] | undefined;
      }
    | undefined;
  /** Where conditions are. */
  readonly status?: unknown;
}

/** An entry of `ownerReferences`. */
export interface OwnerLike {
  /** Such as `ReplicaSet`. */
  readonly kind: string;
  /** The name of the owner. */
  readonly name: string;
  /** The uid of the owner. */
  readonly uid: string;
  /** Whether it is the controller of the object. */
  readonly controller?: boolean | undefined;
}

/** An entry of `managedFields`. */
export interface FieldManagerLike {
  /** The name of the field manager. */
  readonly manager?: string | undefined;
  /** `Apply` or `Update`. */
  readonly operation?: string | undefined;
  /** Such as `status`. */
  readonly subresource?: string | undefined;
  /** The fields, as `f:spec`. */
  readonly fieldsV1?: object | undefined;
}

/** A condition in the status of an object. */
export interface Condition {
  /** Such as `Ready`. */
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** A word for programs. */
  readonly reason?: string | undefined;
  /** A text for people. */
  readonly message?: string | undefined;
  /** The generation of the object that the condition is about. */
  readonly observedGeneration?: number | undefined;
}

/**
 * Checks that an object has an owner.
 *
 * @param options `controller`: also checks whether the owner is the object's controller
 * @throws Error that names the owners that it has
 */
export function ownedBy(object: ObjectLike, owner: ObjectLike, options: { readonly controller?: boolean } = {}): void {
  const owners = object.metadata?.ownerReferences ?? [];
  const found = owners.find(({ uid }) => uid === owner.metadata?.uid);
  const isController = found?.controller === true;
  if (found !== undefined && (options.controller === undefined || options.controller === isController)) return;
  const role = options.controller === true ? "controlled" : "owned";
  const named = owners.map(({ kind, name, uid, controller }) =>
    [`${kind} ${JSON.stringify(name)}`, uid, ...(controller === true ? ["controller"] : [])].join(", "),
  );
  const { uid = "without a uid" } = owner.metadata ?? {};
  throw new Error(`${title(object)} is not ${role} by ${title(owner)} (${uid}). Its owners: ${listed(named)}`);
}

/** Options of {@link appliedBy}. */
export interface AppliedByOptions {
  /** Paths of fields that the manager must own, such as `spec.replicas`. */
  readonly fields?: readonly string[];
  /** `Apply` by default; `Update` for managers that create, update and patch. */
  readonly operation?: "Apply" | "Update";
  /** Such as `status`; the object itself by default. */
  readonly subresource?: string;
}

/**
 * Checks that a field manager has applied an object.
 *
 * @param manager its name
 * @throws Error that names the managers that the object has, or the fields that the manager does not own
 */
export function appliedBy(
  object: ObjectLike,
  manager: string,
  { fields = [], operation = "Apply", subresource = "" }: AppliedByOptions = {},
): void {
  const entries = object.metadata?.managedFields ?? [];
  const own = entries.filter(
    (entry) => entry.manager === manager && entry.operation === operation && (entry.subresource ?? "") === subresource,
  );
  if (own.length === 0) {
    const named = entries.map((entry) =>
      [
        `${entry.operation} by ${JSON.stringify(entry.manager)}`,
        ...(entry.subresource ? [entry.subresource] : []),
      ].join(" of "),
    );
    throw new Error(`${title(object)} has no ${operation} by ${JSON.stringify(manager)}. It has: ${listed(named)}`);
  }
  const missing = fields.filter((path) => !own.some((entry) => ownsField(entry.fieldsV1, path)));
  if (missing.length > 0)
    throw new Error(`${JSON.stringify(manager)} does not own ${missing.join(", ")} of ${title(object)}`);
}

/** Source: the format FieldsV1 of `k8s.io/apimachinery/pkg/apis/meta/v1/types.go`. */
function ownsField(fields: object | undefined, path: string): boolean {
  let at: unknown = fields;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, `f:${name}`)) return false;
    at = (at as Record<string, unknown>)[`f:${name}`];
  }
  return true;
}

/**
 * Checks that an object has a condition, by default with the status `True`.
 *
 * @param expected other fields of the condition; a `message` may be a pattern
 * @returns the condition
 * @throws Error that lists the conditions of the object
 */
export function hasCondition(
  object: ObjectLike,
  type: string,
  expected: Partial<Omit<Condition, "type" | "message">> & { readonly message?: string | RegExp } = {},
): Condition {
  const conditions = conditionsOf(object);
  const { message, ...fields } = { status: "True", ...expected };
  const found = conditions.find((condition) => condition.type === type);
  const isExpected =
    found !== undefined &&
    Object.entries(fields).every(([name, value]) => found[name as keyof Condition] === value) &&
    (message === undefined ||
      (typeof message === "string" ? found.message === message : message.test(found.message ?? "")));
  if (isExpected) return found;
  const words = Object.entries({ ...fields, ...(message !== undefined && { message }) }).map(
    ([name, value]) => `${name}=${value}`,
  );
  throw new Error(
    `${title(object)} has no condition ${type} with ${words.join(", ")}. Its conditions: ${listed(conditions.map(formatted))}`,
  );
}

function conditionsOf({ status }: ObjectLike): readonly Condition[] {
  const conditions = typeof status === "object" && status !== null && "conditions" in status ? status.conditions : [];
  return Array.isArray(conditions) ? conditions : [];
}

function formatted({ type, status, reason, message }: Condition): string {
  return `${type}=${status}${reason === undefined ? "" : ` (${[reason, message ?? []].flat().join(": ")})`}`;
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.join("; ");
}

function title({ kind = "the object", metadata }: ObjectLike): string {
  const { name = "", namespace } = metadata ?? {};
  return `${kind} ${JSON.stringify(name)}${namespace === undefined ? "" : ` in ${JSON.stringify(namespace)}`}`;
}
