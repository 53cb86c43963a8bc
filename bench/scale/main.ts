/** `npm run bench -- --scale [ROW]`: work with so much of something that only what does not grow with it is fast enough. */
import type { ScaleOptions, Show } from "./contract.ts";
import { rows } from "./rows.ts";

/** @param name of a row; all rows when empty */
export async function scaleBench(name: string, options: ScaleOptions): Promise<void> {
  const chosen = name === "" ? rows : rows.filter((row) => row.name === name);
  if (chosen.length === 0) {
    console.error(`error: no row ${name}; the rows are ${rows.map((row) => row.name).join(", ")}`);
    process.exit(2);
  }
  for (const { name, what, goal, run } of chosen) {
    console.log(`${name}: ${what} (goal: ${goal})`);
    await run(show, options);
  }
}

const show: Show = (what, measured, goal = "") => {
  console.log(`  ${what.padEnd(50)} ${measured}${goal === "" ? "" : `   goal: at most ${goal}`}`);
};
