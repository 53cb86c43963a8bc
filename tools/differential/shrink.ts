/** Shrinks a sequence while it keeps a property, such as the cause of its difference. */
import { isObject } from "../../src/lib/json/values.ts";
import { membersKey, rawKey } from "./body-text.ts";
import type { Sequence, Step } from "./contract.ts";
import { referencesIn } from "./references.ts";

/**
 * @param isSame whether a smaller sequence still has the property
 * @param triesMax calls of `isSame`
 * @returns the smallest sequence that was found
 */
export async function shrink(
  sequence: Sequence,
  isSame: (sequence: Sequence) => Promise<boolean>,
  triesMax: number,
): Promise<Sequence> {
  let best = sequence;
  let tries = 0;
  const attempt = async (steps: readonly Step[]): Promise<boolean> => {
    if (tries >= triesMax) return false;
    tries++;
    const smaller = { ...best, steps };
    if (!(await isSame(smaller))) return false;
    best = smaller;
    return true;
  };
  await removeSteps(() => best.steps, attempt);
  for (let at = best.steps.length - 1; at >= 0; at--) await shrinkStep(() => best.steps, at, attempt);
  return best;
}

type Attempt = (steps: readonly Step[]) => Promise<boolean>;

/** Removes halves, quarters, … and at last single steps, from the end. */
async function removeSteps(current: () => readonly Step[], attempt: Attempt): Promise<void> {
  for (let size = Math.ceil(current().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = current().length; end > 0; end -= size) {
      const steps = current();
      const start = Math.max(0, end - size);
      // Silent steps wait for states: without them, answers would depend on time.
      const kept = steps.filter(({ silent }, at) => silent === true || at < start || at >= end);
      const complete = withoutDangling(kept);
      if (complete.length > 0 && complete.length < steps.length) await attempt(complete);
    }
  }
}

/** Without the steps that refer to steps which are missing. */
function withoutDangling(steps: readonly Step[]): Step[] {
  const known = new Set<string>();
  return steps.filter((step) => {
    if ([...referencesIn(step)].some((id) => !known.has(id))) return false;
    if (step.id !== undefined) known.add(step.id);
    return true;
  });
}

async function shrinkStep(current: () => readonly Step[], at: number, attempt: Attempt): Promise<void> {
  const replace = (change: (step: Step) => Step): Promise<boolean> =>
    attempt(current().map((step, index) => (index === at ? change(step) : step)));
  const step = (): Step => current()[at] as Step;
  const [place = "", query] = step().path.split("?");
  if (query !== undefined) {
    const all = query.split("&");
    if (!(await replace((one) => ({ ...one, path: place }))) && all.length > 1)
      for (const part of all) await replace((one) => ({ ...one, path: withoutParameter(one.path, part) }));
  }
  if (step().encoding !== undefined) await replace(({ encoding: _encoding, ...rest }) => rest);
  if (step().body === undefined || typeof step().body === "string") return;
  await shrinkBody(
    () => step().body,
    [],
    (body) => replace((one) => ({ ...one, body })),
  );
}

function withoutParameter(path: string, parameter: string): string {
  const [place = "", query = ""] = path.split("?");
  const rest = query.split("&").filter((one) => one !== parameter);
  return rest.length === 0 ? place : `${place}?${rest.join("&")}`;
}

type Path = readonly (string | number)[];

/** Removes members and items, then shrinks those that are left. */
async function shrinkBody(
  current: () => unknown,
  path: Path,
  attempt: (body: unknown) => Promise<boolean>,
): Promise<void> {
  const here = at(current(), path);
  if (!Array.isArray(here) && !isObject(here)) return;
  if (isObject(here) && (Object.hasOwn(here, rawKey) || Object.hasOwn(here, membersKey))) return;
  const keys = Array.isArray(here) ? [...here.keys()].reverse() : Object.keys(here);
  for (const key of keys) {
    if (path.length === 0 && (key === "kind" || key === "apiVersion")) continue;
    if (!(await attempt(without(current(), [...path, key])))) await shrinkBody(current, [...path, key], attempt);
  }
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((one, key) => (one as Record<string | number, unknown>)[key], value);
}

function without(value: unknown, [key, ...rest]: Path): unknown {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.filter((_item, index) => index !== key)
      : value.map((item, index) => (index === key ? without(item, rest) : item));
  const object = value as Record<string, unknown>;
  if (rest.length > 0) return { ...object, [key as string]: without(object[key as string], rest) };
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
