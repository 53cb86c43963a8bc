/** Statuses whose `Location` Go's HTTP client follows. Source: `redirectBehavior` in Go's net/http/client.go. */
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether Go's HTTP client treats a response as a redirect. */
export function isRedirectStatus(status: number): boolean {
  return redirects.has(status);
}
