/** Server-side apply by several managers, with and without force, and other writes in between. */
import { isObject } from "../../../src/lib/json/values.ts";
import { changeMetadata } from "../change-object.ts";
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { builtinKinds, type Kind, type Sample } from "../samples.ts";
import { changedSample, patchTypes, pathOf, query, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

export const applies: Area = {
  name: "applies",
  make(random) {
    const kind = random.pick(builtinKinds().filter(({ isRisky }) => !isRisky));
    const sample = random.pick(kind.samples);
    const steps: Step[] = [applyStep(kind, sample.object, "one", "force=false")];
    for (let count = 5 + random.below(8); count > 0; count--) steps.push(operation(kind, sample, random));
    return steps;
  },
};

function applyStep(kind: Kind, body: Json, manager: string, more: string): Step {
  return {
    method: "PATCH",
    path: `${pathOf(kind)}${query(manager !== "" && `fieldManager=${manager}`, more !== "" && more)}`,
    headers: { "content-type": patchTypes.apply },
    body,
  };
}

function operation(kind: Kind, sample: Sample, random: Random): Step {
  const roll = random.below(12);
  if (roll < 8) return randomApply(kind, sample, random);
  const body = changedSample(sample, kind, "update", random, { unchanged: 0.2 });
  if (roll < 9) return { method: "PUT", path: `${pathOf(kind)}${writeQuery(random)}`, body };
  if (roll < 10) return mergeStep(kind, random);
  if (roll < 11 && kind.subresources.includes("status"))
    return {
      ...randomApply(kind, sample, random),
      path: `${pathOf(kind)}/status?fieldManager=status&force=true`,
      body,
    };
  return random.chance(0.5) ? { method: "GET", path: pathOf(kind) } : { method: "DELETE", path: pathOf(kind) };
}

function randomApply(kind: Kind, sample: Sample, random: Random): Step {
  const whole = changedSample(sample, kind, "update", random, { unchanged: 0.4 });
  const body = random.chance(0.6) ? partOf(whole, random) : whole;
  const damaged = random.chance(0.06) ? changeMetadata(body, random) : body;
  const force = random.pick(["", "force=true", "force=true", "force=false", "force=other"]);
  const dry = random.chance(0.1) ? "dryRun=All" : "";
  const manager = random.pick([
    "one",
    "one",
    "two",
    "two",
    "three",
    ...(random.chance(0.1) ? ["", "x".repeat(129)] : []),
  ]);
  return applyStep(kind, damaged, manager, [force, dry].filter((one) => one !== "").join("&"));
}

/** Some of the fields, as a manager that owns a part sends them. */
function partOf(object: Json, random: Random, depth = 0): Json {
  const entries = Object.entries(object).filter(
    ([key]) => (depth === 0 && key !== "spec" && key !== "data") || isKey(key) || random.chance(0.7),
  );
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      isObject(value) && key !== "metadata" ? partOf(value, random, depth + 1) : value,
    ]),
  );
}

const isKey = (key: string): boolean => key === "name" || key === "containerPort" || key === "port" || key === "key";

function mergeStep(kind: Kind, random: Random): Step {
  const body = random.pick<object>([
    { metadata: { labels: { a: "b" } } },
    { metadata: { labels: { a: null } } },
    { metadata: { managedFields: [{}] } },
    { metadata: { annotations: { "example.com/a": "b" } } },
    { metadata: { finalizers: ["example.com/a"] } },
    { metadata: { finalizers: null } },
  ]);
  const path = `${pathOf(kind)}${query(random.chance(0.7) && `fieldManager=${random.pick(["one", "two", "four"])}`)}`;
  return { method: "PATCH", path, headers: { "content-type": patchTypes.merge }, body };
}
