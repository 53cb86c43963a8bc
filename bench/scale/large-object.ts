/** An object of 1.4 MiB, with its managed fields, whose list has 10,000 items is applied again, with one item changed. */
import { type Show, withServer } from "./contract.ts";

const items = 10_000;
const rounds = 40;
const path = "/apis/apps/v1/namespaces/default/deployments/large?fieldManager=bench&force=true";
const applyYaml = "application/apply-patch+yaml";

/** A list with keys: the environment of a container. */
function deployment(round: number): string {
  const env = Array.from({ length: items }, (_, index) => ({
    name: `NAME_${String(index).padStart(5, "0")}`,
    value: `${index === round ? `changed-${round}` : "unchanged"}`.padEnd(46, "x"),
  }));
  const labels = { app: "large" };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "large" },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i", env }] } },
    },
  });
}

export async function appliedLargeObject(show: Show): Promise<void> {
  await withServer(async ({ client, cpuMsOf }) => {
    const apply = async (round: number): Promise<void> => {
      const { status, body } = await client.send({
        method: "PATCH",
        path,
        body: deployment(round),
        contentType: applyYaml,
      });
      if (status > 201) throw new Error(body.slice(0, 300));
    };
    await apply(0);
    const { body } = await client.send({ method: "GET", path });
    show("the object", `${(body.length / (1 << 20)).toFixed(2)} MiB`);
    let least = Number.POSITIVE_INFINITY;
    for (let round = 1; round < rounds; round++) least = Math.min(least, await cpuMsOf(() => apply(round)));
    show("applied with one item changed", `${least.toFixed(0)} ms of CPU`, "60 ms");
  });
}
