/** Writers. Each write has a unique token, so that it changes the object and can be identified. */
import type { Http2Answer } from "../../support/http2-client.ts";
import { type Collection, nameCount, namespaces } from "./views.ts";
import type { Known, World } from "./world.ts";

const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const json = "application/json-patch+json";
const nodes = ["node1", "node2"];
/** The statuses with which a random request may be answered. */
const expected = new Set([200, 201, 404, 409]);

interface Request {
  readonly collection: Collection;
  readonly line: string;
  readonly body?: object;
  readonly type?: string;
  /**
   * What the answer contains: the object, the deleted object, the list of deleted objects, or the
   * status of a binding.
   */
  readonly answers: "object" | "deletion" | "list" | "binding";
  readonly key: string;
}

export async function write(world: World, actor: number): Promise<void> {
  const random = world.random(actor);
  for (let step = 0; !world.over; step++) {
    const request = choose(random, `${actor}-${step}`);
    const known = world.known();
    const sentAt = world.now;
    const answer = await world.client(actor).send(request.line, request.body, request.type);
    if (expected.has(answer.status)) take(world, request, answer, known, sentAt);
    else world.problem(`${request.line}: ${answer.status} ${JSON.stringify(answer.body)}`);
    world.count(answer.status < 300 ? "writes" : "writes rejected");
  }
}

function take(
  world: World,
  { collection, line, answers, key, body }: Request,
  answer: Http2Answer,
  known: Known,
  sentAt: number,
): void {
  const { status, body: answered } = answer;
  if (status >= 300) return;
  if (answers === "object" && answered.metadata.deletionTimestamp !== undefined) {
    // The write removed an object that was marked for deletion. The answer has the requested state
    // and the revision of the mark.
    world.deletions.push({ collection, uid: answered.metadata.uid, known, sentAt });
  } else if (answers === "object") {
    const { revision } = world.see(collection, line, answered) as { revision: number };
    world.writes[collection].push({ revision, known, created: status === 201, sentAt });
    world.answered = Math.max(world.answered, revision);
  } else if (answers === "deletion") {
    const uid: string = answered.kind === "Status" ? answered.details.uid : answered.metadata.uid;
    world.deletions.push({ collection, uid, known, sentAt });
  } else if (answers === "list") {
    for (const item of answered.items) world.swept[collection].add(item.metadata.uid);
  } else {
    const binding = `${key} ${(body as { target: { name: string } }).target.name}`;
    world.bindings.set(binding, (world.bindings.get(binding) ?? 0) + 1);
  }
}

type Random = (below: number) => number;

function choose(random: Random, token: string): Request {
  const namespace = namespaces[random(namespaces.length)] as string;
  const name = `n${random(nameCount)}`;
  return random(3) === 0 ? choosePod(random, token, namespace, name) : chooseMap(random, token, namespace, name);
}

function labelsOf(random: Random): Record<string, string> {
  return { ...(random(3) > 0 && { x: String(random(2)) }), ...(random(2) === 0 && { y: "" }) };
}

/** Null removes a label. */
function labelChange(random: Random): Record<string, string | null> {
  return {
    x: ["0", "1", null][random(3)] as string | null,
    ...(random(2) === 0 && { y: random(2) === 0 ? "" : null }),
  };
}

function chooseMap(random: Random, token: string, namespace: string, name: string): Request {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const common = { collection: "configmaps", answers: "object", key: `${namespace}/${name}` } as const;
  const whole = { metadata: { name, labels: labelsOf(random) }, data: { token } };
  const change = { metadata: { labels: labelChange(random) }, data: { token } };
  const dice = random(100);
  if (dice < 30) return { ...common, line: `POST ${path}`, body: whole };
  if (dice < 50) return { ...common, line: `PUT ${path}/${name}`, body: whole };
  if (dice < 65) return { ...common, line: `PATCH ${path}/${name}`, body: change, type: merge };
  if (dice < 75) return { ...common, line: `PATCH ${path}/${name}`, body: change, type: strategic };
  if (dice < 80)
    return {
      ...common,
      line: `PATCH ${path}/${name}`,
      body: [{ op: "replace", path: "/data/token", value: token }],
      type: json,
    };
  if (dice < 98) return { ...common, line: `DELETE ${path}/${name}`, answers: "deletion" };
  return { ...common, line: `DELETE ${path}?labelSelector=x%3D0,y`, answers: "list" };
}

function choosePod(random: Random, token: string, namespace: string, name: string): Request {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const common = { collection: "pods", answers: "object", key: `${namespace}/${name}` } as const;
  const nodeName = nodes[random(nodes.length)] as string;
  const dice = random(100);
  if (dice < 35) {
    const spec = { containers: [{ name: "c", image: "i" }], ...(random(2) === 0 && { nodeName }) };
    return {
      ...common,
      line: `POST ${path}`,
      body: { metadata: { name, labels: labelsOf(random), annotations: { token } }, spec },
    };
  }
  if (dice < 50) {
    const body = { metadata: { labels: labelChange(random), annotations: { token } } };
    return { ...common, line: `PATCH ${path}/${name}`, body, type: merge };
  }
  if (dice < 65) {
    const body = { status: { phase: ["Pending", "Running"][random(2)], message: token } };
    return { ...common, line: `PATCH ${path}/${name}/status`, body, type: merge };
  }
  if (dice < 80)
    return {
      ...common,
      line: `POST ${path}/${name}/binding`,
      body: { metadata: { name }, target: { name: nodeName } },
      answers: "binding",
    };
  if (dice < 98) return { ...common, line: `DELETE ${path}/${name}?gracePeriodSeconds=0`, answers: "deletion" };
  return { ...common, line: `DELETE ${path}?labelSelector=x%3D1,y&gracePeriodSeconds=0`, answers: "list" };
}
