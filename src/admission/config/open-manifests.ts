/**
 * Loads the static manifests of a plugin, and loads them again when the directory changes.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/manifest/source/source.go,
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/manifest/source/source.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { watchDirectory } from "../../lib/watched-file/watched-directory.ts";
import type { ManifestObserver, ManifestPlugin, StaticManifests } from "./contract.ts";
import { type LoadedManifests, loadManifests } from "./load-manifests.ts";
import { readManifestFiles } from "./manifest-files.ts";

interface OpenOptions {
  readonly plugin: ManifestPlugin;
  /** The absolute path of the directory. */
  readonly directory: string;
  readonly catalog: Catalog;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "info" | "error">;
  readonly observer: ManifestObserver;
}

/**
 * Loads the manifests of a directory, and watches it until `close`. A reload that fails leaves the
 * current objects in use, is logged and counted.
 *
 * @throws Error with upstream's message when the first load fails
 */
export async function openManifests(options: OpenOptions): Promise<StaticManifests> {
  const { plugin, directory, catalog, clock, logger, observer } = options;
  const first = await firstLoad(options);
  let { hash, objects } = first;
  let pending: Promise<void> | undefined;
  let isOutdated = false;
  let isClosed = false;
  const listeners = new Set<() => void>();
  observer.loaded(plugin, hash);
  logger.info("Loaded static manifests", { plugin, directory, objects: countObjects(objects) });

  async function reload(): Promise<void> {
    const files = await readManifestFiles(directory);
    if (files.hash === hash) return;
    const next = await loadManifests(plugin, files.documents, catalog);
    if (isClosed) return;
    ({ hash } = files);
    objects = next;
    observer.loaded(plugin, hash);
    logger.info("Reloaded static manifests", { plugin, directory, objects: countObjects(objects) });
    for (const listener of [...listeners]) listener();
  }

  function fail(error: unknown): void {
    if (isClosed) return;
    logger.error("Reloading static manifests failed", { plugin, directory, error: (error as Error).message });
    observer.failed(plugin);
  }

  /** Reloads do not overlap; events during one lead to one more. */
  function reloadOnce(): void {
    isOutdated = pending !== undefined;
    pending ??= reload()
      .catch(fail)
      .then(() => {
        pending = undefined;
        if (isOutdated && !isClosed) reloadOnce();
      });
  }

  const watched = watchDirectory(directory, { after: clock.after, onEvent: reloadOnce });
  return {
    current: (kind) => objects.get(kind) ?? [],
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      watched.close();
    },
  };
}

interface Loaded {
  readonly hash: string;
  readonly objects: LoadedManifests;
}

async function firstLoad({ plugin, directory, catalog }: OpenOptions): Promise<Loaded> {
  try {
    const { documents, hash } = await readManifestFiles(directory);
    return { hash, objects: await loadManifests(plugin, documents, catalog) };
  } catch (error) {
    const type = plugin.endsWith("Webhook") ? "webhook" : "policy";
    const problem = `failed to load static ${type} manifests from ${quoteGo(directory)}: ${(error as Error).message}`;
    throw new Error(`failed to initialize admission plugin ${quoteGo(plugin)}: ${problem}`, { cause: error });
  }
}

function countObjects(objects: LoadedManifests): number {
  return [...objects.values()].reduce((sum, list) => sum + list.length, 0);
}
