/** The rules of a running server, over its control paths. */
import { setTimeout as delay } from "node:timers/promises";
import { printable } from "../../lib/json/printable.ts";
import { isObject } from "../../lib/json/values.ts";
import { ask, type Json, RequestRejected, type Sender } from "../client/ask.ts";
import type { OutputFormat } from "../subcommands.ts";

const path = "/testing/faults";
/** How often hits are read. */
const pollMs = 1000;

/** A rule as the server shows it. */
interface ShownRule {
  readonly id: string;
  readonly match: object;
  readonly fault: { readonly type: string };
  readonly hits: number;
}

/** Adds the rules of a file. @throws Error with the server's message if one is not valid */
export async function addedRules(client: Sender, file: unknown): Promise<readonly ShownRule[]> {
  if (!isObject(file)) throw new Error("the file must have an object with the field rules, a list");
  if (Array.isArray(file.rules) && file.rules.length === 0) throw new Error("the file has no rules");
  return rulesOf(await control(client, "POST", path, file));
}

/** @returns a line for each rule, or the rules as JSON */
export async function listRules(client: Sender, format: OutputFormat): Promise<string> {
  const rules = rulesOf(await control(client, "GET", path));
  if (format === "json") return `${JSON.stringify(rules, undefined, 2)}\n`;
  return rules.length === 0 ? "No rules.\n" : rules.map(line).join("");
}

/** Removes all rules. @returns a line for each */
export async function clearRules(client: Sender): Promise<string> {
  const rules = rulesOf(await control(client, "DELETE", path));
  return rules.length === 0 ? "No rules.\n" : `Removed:\n${rules.map(line).join("")}`;
}

/**
 * Prints rules when they are hit, and removes them at the end.
 * @throws Error when the server cannot be asked any more; then its rules are removed if that is possible
 */
export async function applyRules(
  client: Sender,
  rules: readonly ShownRule[],
  { print, end }: { readonly print: (text: string) => void; readonly end: AbortSignal },
): Promise<void> {
  print(`Added:\n${rules.map(line).join("")}`);
  const hits = new Map(rules.map(({ id }) => [id, 0]));
  try {
    while (!end.aborted) {
      await delay(pollMs, undefined, { signal: end }).catch(unlessAborted);
      for (const rule of rulesOf(await control(client, "GET", path))) {
        const before = hits.get(rule.id);
        if (before === undefined || before === rule.hits) continue;
        hits.set(rule.id, rule.hits);
        print(line(rule));
      }
    }
  } finally {
    await removeAll(client, rules);
  }
  print("Removed.\n");
}

/** @throws the first error, when all others are removed */
async function removeAll(client: Sender, rules: readonly ShownRule[]): Promise<void> {
  const failures: unknown[] = [];
  for (const { id } of rules)
    await control(client, "DELETE", `${path}/${id}`)
      .catch(unlessRemoved)
      .catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

function unlessAborted(error: unknown): void {
  if (!(error instanceof Error && error.name === "AbortError")) throw error;
}

/** Another client may have removed the rule. */
function unlessRemoved(error: unknown): void {
  if (!(error instanceof RequestRejected && error.status === 404)) throw error;
}

/** @throws Error which says that a server does not serve the paths */
async function control(client: Sender, method: string, target: string, body?: object): Promise<Json> {
  try {
    return await ask(client, method, target, { accept: "application/json", ...(body && { body }) });
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 404 && target === path)
      throw new Error("the server cannot be controlled; Coxswain can with --enable-test-control", { cause: error });
    throw error;
  }
}

function rulesOf(answer: Json): readonly ShownRule[] {
  return answer.rules;
}

function line({ id, match, fault: { type, ...options }, hits }: ShownRule): string {
  const more = Object.keys(options).length === 0 ? "" : ` ${JSON.stringify(options)}`;
  return printable(`${id} ${type}${more} for ${JSON.stringify(match)}: ${hits} hits`).concat("\n");
}
