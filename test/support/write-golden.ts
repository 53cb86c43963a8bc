/**
 * Writes of one kind with the answers of kube-apiserver: each row changes a base object, and has
 * the answer to it. `tools/golden/server/writes.ts` records the answers; `runWrite` sends a row to
 * either server.
 */
import { cloneJson, isObject } from "../../src/lib/json/values.ts";
import { jsonDifferences } from "./json-differences.ts";

/** A change of an object: a JSON pointer and the new value; without a value, it is removed. */
export type Change = readonly [pointer: string] | readonly [pointer: string, value: unknown];
export type Cause = readonly [reason: string, field: string, message: string];

/**
 * `create` sends the changed base; `update` the changed stored base; others do so to the
 * subresource of that name. All are dry runs.
 */
export type Verb = "create" | "update" | "status" | "resize" | "ephemeralcontainers";

/**
 * @property answer the causes of a 422 and the message of other errors; for accepted writes, how
 *   the returned object differs from the sent one, except where the answer to the unchanged base
 *   does too
 */
export type Row = readonly [
  verb: Verb,
  base: number,
  changes: readonly Change[],
  code: number,
  answer?: unknown,
  warnings?: string,
];

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
type Sent = Record<string, any>;

export interface WriteGolden {
  /** The path of the collection, such as `/apis/apps/v1/namespaces/work/statefulsets`. */
  readonly path: string;
  readonly bases: readonly Base[];
  readonly rows: readonly Row[];
}

interface Base {
  /** With a name; `status` is written after the creation. */
  readonly object: Sent;
  /** Written to the store under this key, because such an object can no longer be created. */
  readonly key?: string;
}

export interface WriteServer {
  /** @param line `POST /api/v1/namespaces` */
  send(
    line: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly warnings: string; readonly body: Sent }>;
  seed(key: string, object: Sent): Promise<void>;
}

export interface Outcome {
  readonly code: number;
  readonly answer: unknown;
  readonly warnings: string;
}

interface WriteSession {
  run(row: Row): Promise<Outcome>;
  /** The stored base. */
  stored(base: number): Promise<Sent>;
}

/** Creates bases when the first row needs them. */
export function openWrites(server: WriteServer, { path, bases }: WriteGolden): WriteSession {
  const stored = new Map<number, Sent>();
  const plain = new Map<number, Sent>();
  const baseAt = (index: number): Base => {
    const base = bases[index];
    if (base === undefined) throw new Error(`there is no base ${index}`);
    return base;
  };
  async function store(index: number): Promise<Sent> {
    const known = stored.get(index);
    if (known !== undefined) return known;
    const object = await storeBase(server, path, baseAt(index));
    stored.set(index, object);
    return object;
  }
  /** The answer to the base itself. */
  async function answered(verb: Verb, index: number): Promise<Sent> {
    if (verb !== "create") return store(index);
    const known = plain.get(index) ?? (await server.send(`POST ${path}?dryRun=All`, toCreate(baseAt(index)))).body;
    plain.set(index, known);
    return known;
  }
  return {
    stored: store,
    async run([verb, index, changes]) {
      const before = await answered(verb, index);
      const sent = changed(verb === "create" ? toCreate(baseAt(index)) : before, changes);
      const line =
        verb === "create"
          ? `POST ${path}`
          : `PUT ${path}/${before.metadata.name}${verb === "update" ? "" : `/${verb}`}`;
      const { status, warnings, body } = await server.send(`${line}?dryRun=All`, sent);
      const answer =
        status === 422
          ? causesOf(body)
          : status >= 300
            ? body.message
            : changesBetween(shown(changed(before, changes)), shown(body));
      return { code: status, answer: normalized(answer), warnings: normalized(warnings) };
    },
  };
}

/** A name that differs from that of the stored base. */
function toCreate({ object }: Base): Sent {
  return { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-new` } };
}

async function storeBase(server: WriteServer, path: string, { object, key }: Base): Promise<Sent> {
  const { name } = object.metadata;
  await server.send(`DELETE ${path}/${name}?propagationPolicy=Background`);
  if (key !== undefined) {
    await server.seed(key, object);
    return (await server.send(`GET ${path}/${name}`)).body;
  }
  const created = await server.send(`POST ${path}`, object);
  if (created.status !== 201) throw new Error(`the base is refused: ${JSON.stringify(created.body)}`);
  if (object.status === undefined) return created.body;
  const written = await server.send(`PUT ${path}/${name}/status`, { ...created.body, status: object.status });
  if (written.status !== 200) throw new Error(`the status of the base is refused: ${JSON.stringify(written.body)}`);
  return written.body;
}

function causesOf({ details }: Sent): Cause[] {
  return (details?.causes ?? []).map(({ reason = "", field = "", message = "" }: Sent) => [reason, field, message]);
}

/** The comparable parts of an answer, without values that differ each time. */
function shown({
  kind: _kind,
  apiVersion: _version,
  metadata: { managedFields, resourceVersion, creationTimestamp, uid, ...metadata },
  ...rest
}: Sent): Sent {
  return { ...rest, metadata };
}

const normalized = <Value>(value: Value): Value =>
  value === undefined
    ? value
    : JSON.parse(
        JSON.stringify(value)
          .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
          .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"),
      );

function changesBetween(before: unknown, after: unknown): Change[] {
  return jsonDifferences(before, after).map(({ path, theirs }) => {
    const pointer = path.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    return theirs === undefined ? [pointer] : [pointer, theirs];
  });
}

/** Applies changes. @throws Error if the path of a change does not exist */
export function changed(object: Sent, changes: readonly Change[]): Sent {
  const next = cloneJson(object);
  for (const [pointer, ...value] of changes) {
    const steps = pointer
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop();
    let at: unknown = next;
    for (const step of steps) at = memberOf(at, step);
    if (last === undefined || (!isObject(at) && !Array.isArray(at))) throw new Error(`nothing is at ${pointer}`);
    if (value.length > 0) Reflect.set(at, last, value[0]);
    else if (Array.isArray(at)) at.splice(Number(last), 1);
    else delete at[last];
  }
  return next;
}

function memberOf(value: unknown, step: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}
