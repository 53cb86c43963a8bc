/** The areas of the differential tester: a new one is a file and a line here. */
import { applies } from "./areas/applies.ts";
import { customResources } from "./areas/custom-resources.ts";
import { damageOf } from "./areas/damage.ts";
import { deletions } from "./areas/deletions.ts";
import { discovery } from "./areas/discovery.ts";
import { encodings } from "./areas/encodings.ts";
import { expressions } from "./areas/expressions.ts";
import { lists } from "./areas/lists.ts";
import { objects } from "./areas/objects.ts";
import { patches } from "./areas/patches.ts";
import { policies } from "./areas/policies.ts";
import { quotas } from "./areas/quotas.ts";
import { subresources } from "./areas/subresources.ts";
import { users } from "./areas/users.ts";
import { watches } from "./areas/watches.ts";
import { webhooks } from "./areas/webhooks.ts";
import type { Area, Sequence } from "./contract.ts";
import { openRandom } from "./random.ts";
import { finalReads } from "./touched.ts";

export const allAreas: readonly Area[] = [
  objects,
  encodings,
  patches,
  applies,
  lists,
  watches,
  subresources,
  deletions,
  users,
  quotas,
  discovery,
  customResources,
  policies,
  expressions,
  webhooks,
  damageOf({ everything: false }),
];

/** Depends on its arguments alone. Ends with reads of all that it may have changed. */
export function makeSequence({ name, make }: Area, seed: number, index: number): Sequence {
  const steps = make(openRandom(`${seed}/${name}/${index}`));
  return { area: name, steps: [...steps, ...finalReads(steps)] };
}
