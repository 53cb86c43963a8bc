/** URLs of webhooks: the errors of kube-apiserver, with the texts of Go's net/url. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { checkWebhookUrl } from "./conversion-rules.ts";

/** Messages at `url`; empty for a valid one. */
const rows: readonly (readonly [url: string, ...messages: string[]])[] = [
  ["https://a.example/path"],
  ["https://[::1]:8443/"],
  ["https://a]"],
  [
    "https://[]/",
    'Required value: url must be a valid URL: parse "https://[]/": invalid host: ParseAddr(""): unable to parse IP; desired format: https://host[/path]',
  ],
  [
    "https://a[b",
    'Required value: url must be a valid URL: parse "https://a[b": invalid IP-literal; desired format: https://host[/path]',
  ],
  ["https://a:b%20c@h/", 'Invalid value: "a:b%20c": user information is not permitted in the URL'],
  ["https://@h/", 'Invalid value: "": user information is not permitted in the URL'],
  ["https://h/#a%20b", 'Invalid value: "a b": fragments are not permitted in the URL'],
  ["https://h/?a%20b", 'Invalid value: "a%20b": query parameters are not permitted in the URL'],
];

for (const [url, ...messages] of rows) {
  test(`${url} is ${messages.length === 0 ? "valid" : "invalid"} as the URL of a webhook`, () => {
    const errors = new FieldErrors();
    checkWebhookUrl(url, "url", errors);
    assert.deepEqual(
      errors.causes.map(({ message }) => message),
      messages,
    );
  });
}
