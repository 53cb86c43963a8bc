/** Objects that cannot be deleted because finalizers hold them. */

/** An object with finalizers. */
export interface HeldObject {
  readonly group: string;
  readonly resource: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}

/** Which objects: those in a namespace, those of a resource, or one of these. */
export interface HeldScope {
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
}

/** Finds objects that finalizers hold, and removes these. */
export interface Finalizers {
  held(scope: HeldScope): Promise<HeldObject[]>;
  /** Removes all finalizers of an object that may be gone meanwhile. @throws ApiError when admission rejects it */
  release(held: HeldObject): Promise<void>;
}

/** A line for a warning, such as `widgets.example.com shop/blue (example.com/cleanup)`. */
export function describeHeld({ group, resource, namespace, name, finalizers }: HeldObject): string {
  const full = group === "" ? resource : `${resource}.${group}`;
  return `${full} ${namespace === "" ? "" : `${namespace}/`}${name} (${finalizers.join(", ")})`;
}

/** Removes the finalizers of objects, and prints which they were. @throws ApiError when admission rejects it */
export async function releaseHeld(scope: HeldScope, finalizers: Finalizers): Promise<void> {
  const held = await finalizers.held(scope);
  for (const one of held) await finalizers.release(one);
  if (held.length === 0) return;
  const shown = held.slice(0, shownMax).map(describeHeld).join("; ");
  const more = held.length > shownMax ? `; and ${held.length - shownMax} more` : "";
  console.warn(`Removed finalizers that nothing else removed, so that the test can end: ${shown}${more}`);
}

const shownMax = 20;
