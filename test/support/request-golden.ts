/**
 * Raw requests, including damaged ones, with the answers of kube-apiserver. All are dry runs on the
 * same few objects. `tools/golden/server/requests.ts` fills the answers in.
 */

/** `$VERSION` and `$UID` in a body are replaced by those of the object in the path. */
export type RequestRow = readonly [
  line: string,
  contentType: string,
  body: string,
  status: number,
  warnings: string,
  answer: string,
];

export interface RequestGolden {
  readonly objects: readonly { readonly path: string; readonly object: Readonly<Record<string, unknown>> }[];
  readonly rows: readonly RequestRow[];
}

interface RequestAnswer {
  readonly status: number;
  /** Values of `Warning` headers, joined. */
  readonly warnings: string;
  readonly text: string;
}

/** @param line method and path */
export type SendRequest = (line: string, contentType: string, body: string) => Promise<RequestAnswer>;

/**
 * Creates the objects.
 *
 * @returns a function that sends the request of a row and returns the comparable parts of the
 *   answer
 */
export async function openRequestGolden(
  { objects }: RequestGolden,
  send: SendRequest,
): Promise<(row: RequestRow) => Promise<RequestRow>> {
  const stored = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();
  for (const { path, object } of objects) {
    const { name } = object.metadata as { name: string };
    await send(`POST ${path}`, "application/json", JSON.stringify(object));
    const { metadata } = JSON.parse((await send(`GET ${path}/${name}`, "", "")).text);
    stored.set(`${path}/${name}`, metadata);
  }
  return async ([line, contentType, body]) => {
    const [path] = [...stored.keys()].filter((known) => line.includes(known));
    const { uid = "", resourceVersion = "" } = stored.get(path ?? "") ?? {};
    const sent = body.replaceAll("$VERSION", resourceVersion).replaceAll("$UID", uid);
    const { status, warnings, text } = await send(line, contentType, sent);
    return [line, contentType, body, status, warnings, normalized(text)];
  };
}

/** Removes values that differ each time, wherever they are quoted. */
function normalized(text: string): string {
  return text
    .trim()
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/20[23]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replaceAll(/(resourceVersion\\*": ?\\*")[1-9]\d*/g, "$1<version>")
    .replaceAll(/(current: |object meta: )\d+/g, "$1<version>")
    .replaceAll("pkg/runtime/scheme.go:111", "pkg/api/legacyscheme/scheme.go:30"); // Paths differ when kube-apiserver is built as a module.
}
