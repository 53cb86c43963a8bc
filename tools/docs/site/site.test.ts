/**
 * Builds the site and visits every page in a browser: each link leads to a page with the anchor, diagrams are drawn, the
 * search finds pages. Needs COXSWAIN_TEST_FULL=1, Chromium, and a registry on the first run.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join, sep } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { reasonOf, skipWithout } from "../../../test/support/needs.ts";
import { sidebarOf } from "./pages.ts";

const site = import.meta.dirname;
const output = join(site, "../../../.site");
const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? browsers.find((file) => existsSync(file));
const skip = skipWithout("full") || (executablePath === undefined && reasonOf("Chromium", "apt-get install chromium"));

/** What the test uses of puppeteer-core, which is only installed for the site. */
interface Page {
  goto(url: string, options: { waitUntil: "load" }): Promise<unknown>;
  on(event: "pageerror", listener: (error: Error) => void): void;
  evaluate<T>(code: string): Promise<T>;
  waitForFunction(code: string): Promise<unknown>;
  keyboard: { type(text: string): Promise<void> };
  close(): Promise<void>;
}

interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** Serves the built files; pages also without their extension. */
function serveFiles(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const file = [path, `${path}.html`, `${path}index.html`].map((name) => join(output, name)).find(isFile);
    if (file === undefined || !file.startsWith(output)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": mediaTypes[extname(file)] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const pages = (): string[] =>
  globSync("**/*.html", { cwd: output }).map((file) => `/${file.replaceAll(sep, "/").replace(/\.html$/, "")}`);

function isFile(path: string): boolean {
  return extname(path) !== "" && existsSync(path);
}

test("the sidebar has the groups of the map of documents", () => {
  const text =
    "# Documentation\n\n**How-to guides**\n\n- [A](a.md), [`b`](../B.md#c).\n- none\n\n**Empty**\n\n- text\n";
  assert.deepEqual(sidebarOf(text), [
    {
      text: "How-to guides",
      items: [
        { text: "A", link: "/docs/a" },
        { text: "b", link: "/B" },
      ],
    },
  ]);
});

describe("the site in a browser", { skip }, () => {
  let server: Server;
  let browser: Browser;
  let url: string;
  before(async () => {
    const built = spawnSync(process.execPath, [join(site, "build.ts")], { encoding: "utf8" });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    server = await serveFiles();
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const module = createRequire(join(site, "package.json")).resolve("puppeteer-core");
    const { default: puppeteer } = await import(pathToFileURL(module).href);
    browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });

  test("every link leads to a page and an anchor that exist, and no page has an error", async () => {
    const errors: string[] = [];
    const links = new Map<string, string>();
    const anchors = new Map<string, Set<string>>();
    const page = await browser.newPage();
    page.on("pageerror", (error) => void errors.push(String(error)));
    for (const path of pages()) {
      await page.goto(url + path, { waitUntil: "load" });
      const drawn = "[...document.querySelectorAll('.mermaid')].every((one) => one.querySelector('svg') !== null)";
      await page.waitForFunction(`document.querySelector('#app').__vue_app__ !== undefined && ${drawn}`);
      const ids = await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)");
      anchors.set(path, new Set(ids));
      for (const href of await page.evaluate<string[]>("[...document.links].map(({ href }) => href)"))
        if (href.startsWith(url)) links.set(href, path);
    }
    await page.close();
    assert.deepEqual(errors, []);
    assert.ok(anchors.size > 40 && links.size > 200, `${anchors.size} pages, ${links.size} links`);
    assert.deepEqual(
      [...links].filter(([href]) => !leadsSomewhere(new URL(href), anchors)),
      [],
    );
  });

  test("the search finds a flag", async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/docs/README`, { waitUntil: "load" });
    await page.waitForFunction("document.querySelector('.DocSearch-Button') !== null");
    await page.waitForFunction(
      "document.querySelector('#localsearch-input') !== null || (document.querySelector('.DocSearch-Button').click(), false)",
    );
    await page.keyboard.type("etcd-compaction-interval");
    await page.waitForFunction("document.querySelector('a.result[href*=\"reference/flags\"]') !== null");
    await page.close();
  });
});

function leadsSomewhere({ pathname, hash }: URL, anchors: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const ids = anchors.get(pathname.replace(/\.html$/, "").replace(/\/$/, "/index"));
  return ids !== undefined && (hash === "" || hash === "#VPContent" || ids.has(decodeURIComponent(hash.slice(1))));
}
