/** Lists as sets. Source: cel-go, ext.Sets */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, times, timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, listType, parameterType } from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { contains } from "../../values/equality.ts";
import type { CelList, Equality } from "../../values/value.ts";
import { declare, overload } from "../declare.ts";

function containsAll(list: CelList, part: CelList): Equality {
  for (let at = 0; at < part.size; at++) {
    const found = contains(list, part.at(at));
    if (found !== true) return found;
  }
  return true;
}

function equivalent(left: CelList, right: CelList): Equality {
  const isPart = containsAll(left, right);
  return isPart === true ? containsAll(right, left) : isPart;
}

function intersects(left: CelList, right: CelList): boolean {
  for (let at = 0; at < left.size; at++) if (contains(right, left.at(at)) === true) return true;
  return false;
}

/** Every element is compared with every element of the other list `factor` times. */
function costs(factor: number): Pick<FunctionDeclaration, "cost" | "estimate"> {
  return {
    cost: (args) => 1 + sizeOf(args[0]) * sizeOf(args[1]) * factor,
    estimate: ({ args }) => ({
      cost: plus(timesFactor(times(sizeOrUnknown(args[0]), sizeOrUnknown(args[1])), factor), fixed(1)),
    }),
  };
}

const list = listType(parameterType("T"));
const two = [list, list];

/** `sets.contains`, `sets.equivalent` and `sets.intersects`. */
export const sets = library({
  functions: [
    {
      ...declare("sets.contains", overload("list_sets_contains_list", two, boolType, { evaluate: containsAll })),
      ...costs(1),
    },
    {
      ...declare("sets.equivalent", overload("list_sets_equivalent_list", two, boolType, { evaluate: equivalent })),
      ...costs(2),
    },
    {
      ...declare("sets.intersects", overload("list_sets_intersects_list", two, boolType, { evaluate: intersects })),
      ...costs(1),
    },
  ],
});
