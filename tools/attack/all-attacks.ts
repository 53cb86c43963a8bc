/** All attacks, in the order of the report. */
import { backendAttacks } from "./attacks/backends.ts";
import { floodAttacks } from "./attacks/floods.ts";
import { listRows } from "./attacks/lists.ts";
import { parserRows } from "./attacks/parsers.ts";
import { rawAttacks } from "./attacks/raw.ts";
import { roleRows } from "./attacks/roles.ts";
import { texts } from "./attacks/texts.ts";
import type { Attack } from "./contract.ts";
import { requestAttack } from "./request-attack.ts";

export const allAttacks: readonly Attack[] = [
  ...backendAttacks,
  ...[...texts, ...parserRows, ...roleRows, ...listRows].map(requestAttack),
  ...rawAttacks,
  ...floodAttacks,
];
