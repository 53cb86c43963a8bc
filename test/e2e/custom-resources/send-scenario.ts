/** Sends the requests of a scenario and makes the answers of two servers comparable. */
import type { Answer, RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/until.ts";
import { comparable } from "../real-definitions/twins.ts";
import type { Scenario, Step } from "./scenarios.ts";

/** @returns for each step its method and path, and the part of the answer that is compared */
export async function sendScenario(
  client: RawClient,
  { steps }: Scenario,
): Promise<[request: string, answer: unknown][]> {
  const answers: [string, unknown][] = [];
  for (const step of steps)
    answers.push([`${step.method ?? "GET"} ${step.path}`, shown(step, await send(client, step))]);
  return JSON.parse(JSON.stringify(answers));
}

async function send(client: RawClient, { method = "GET", path, body, headers = {}, until }: Step): Promise<Answer> {
  return eventually(`${method} ${path} answers ${until}`, async () => {
    const answer = await client.send({ method, path, headers: { ...headers }, ...(body !== undefined && { body }) });
    return (until === undefined || until.test(answer.text)) && answer;
  });
}

function shown({ show }: Step, answer: Answer): unknown {
  const { status, warnings, body } = comparable(answer);
  if (status >= 400 || show === undefined) return { status, ...(warnings.length > 0 && { warnings }), body };
  let part = body;
  for (const name of show) part = part?.[name];
  return { status, ...(warnings.length > 0 && { warnings }), part };
}
