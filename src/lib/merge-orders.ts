/**
 * Merges lists of names into one in which the names have the order that they have in each list.
 * Source: `MergePreservingRelativeOrder` in k8s.io/apimachinery@v0.36.0/pkg/util/sort/sort.go.
 */

/**
 * @returns each name once. Names whose order no list decides are sorted; all are when lists
 *   contradict each other
 */
export function mergeOrders(lists: readonly (readonly string[])[]): readonly string[] {
  const names = new Set(lists.flat());
  const complete = lists.find((list) => list.length === names.size && new Set(list).size === names.size);
  if (complete !== undefined) return complete;
  const followers = followersOf(lists);
  const merged = inOrder(names, followers);
  return merged.length === names.size ? merged : [...names].sort();
}

/** The names that directly follow each name in some list. */
function followersOf(lists: readonly (readonly string[])[]): Map<string, Set<string>> {
  const followers = new Map<string, Set<string>>();
  for (const list of lists) {
    for (const [at, name] of list.slice(0, -1).entries()) {
      const next = followers.get(name) ?? new Set();
      followers.set(name, next.add(list[at + 1] as string));
    }
  }
  return followers;
}

/** Takes the first name that no remaining name must precede. @returns fewer names if there is a cycle */
function inOrder(names: ReadonlySet<string>, followers: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const before = new Map<string, number>(Array.from(names, (name) => [name, 0]));
  for (const next of followers.values()) for (const name of next) before.set(name, (before.get(name) ?? 0) + 1);
  const ready = [...names].filter((name) => before.get(name) === 0).sort();
  const merged: string[] = [];
  for (let name = ready.shift(); name !== undefined; name = ready.shift()) {
    merged.push(name);
    for (const next of followers.get(name) ?? []) {
      const left = (before.get(next) as number) - 1;
      before.set(next, left);
      if (left === 0) insertSorted(ready, next);
    }
  }
  return merged;
}

function insertSorted(sorted: string[], name: string): void {
  const at = sorted.findIndex((one) => one > name);
  sorted.splice(at < 0 ? sorted.length : at, 0, name);
}
