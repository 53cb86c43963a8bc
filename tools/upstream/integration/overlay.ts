/**
 * Changes upstream's two test servers in a copy of its module, so that they start the server under test (server.go) instead of a
 * kube-apiserver within the process of the test.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const testServer = "cmd/kube-apiserver/app/testing";
const framework = "test/integration/framework/test_server.go";
const needsProcess = 't.Skip("needs a kube-apiserver within the process of the test")';

/**
 * @param original the directory of k8s.io/kubernetes
 * @param copy the directory of its copy
 * @returns whether a file of the copy has changed
 * @throws Error when a file is not that of the expected version
 */
export function overlay(original: string, copy: string): boolean {
  const files: [file: string, text: string][] = [
    [join(testServer, "started_server.go"), readFileSync(join(import.meta.dirname, "server.go"), "utf8")],
    ...[[join(testServer, "testserver.go"), changeTestServer] as const, [framework, changeFramework] as const].map(
      ([file, change]): [string, string] => [
        file,
        removeUnusedImports(change(readFileSync(join(original, file), "utf8"))),
      ],
    ),
  ];
  const changed = files.filter(([file, text]) => readText(join(copy, file)) !== text);
  for (const [file, text] of changed) writeFileSync(join(copy, file), text);
  return changed.length > 0;
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function changeTestServer(text: string): string {
  const start = `	s.SecureServing.Listener.Close()
	if instanceOptions.StorageVersionWrapFunc != nil || instanceOptions.BinaryVersion != "" {
		${needsProcess}
	}
	server, err := StartUnderTest(s, namedFlagSets, result.TmpDir, s.SecureServing.BindPort)
	if server != nil {
		errCh = server.Exited
		server.StopWith(tCtx)
	}
	if err != nil {
		return result, err
	}
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		return result, err
	}

`;
  return replaceBetween(
    text,
    "\tconfig, err := app.NewConfig(completedOptions)",
    "\tif !instanceOptions.SkipHealthzCheck {",
    start,
  ).replaceAll("server.GenericAPIServer.LoopbackClientConfig", "server.Config");
}

function changeFramework(text: string): string {
  const start = `	if setup.ModifyServerConfig != nil {
		${needsProcess}
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	server, err := kubeapiservertesting.StartUnderTest(opts, flagSets, certDir, port)
	if server != nil {
		errCh = server.Exited
		server.StopWith(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	kubeAPIServerClientConfig := server.Config

`;
  const begin = "\tgenericConfig, versionedInformers, storageFactory, err := controlplaneapiserver.BuildGenericConfig(";
  const options = "\topts := options.NewServerRunOptions()\n";
  const imported = '\t"k8s.io/kubernetes/cmd/kube-apiserver/app/options"\n';
  const started = replaceBetween(text, begin, "\t// wait for health", start);
  const withFlags = replaceOnce(started, options, `${options}\tflagSets := opts.Flags()\n`);
  return replaceOnce(withFlags, imported, `${imported}\tkubeapiservertesting "k8s.io/kubernetes/${testServer}"\n`);
}

function replaceBetween(text: string, begin: string, end: string, replacement: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`upstream's test server has no ${JSON.stringify(begin.trim())}`);
  return text.slice(0, from) + replacement + text.slice(to);
}

function replaceOnce(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`upstream's test server has no ${JSON.stringify(from.trim())}`);
  return text.replace(from, () => to);
}

/** Go rejects imports that only the removed part used. */
function removeUnusedImports(text: string): string {
  const begin = text.indexOf("import (");
  const end = text.indexOf("\n)", begin);
  const body = text.slice(end);
  const imports = text
    .slice(begin, end)
    .split("\n")
    .filter((line) => {
      const [, alias, path] = /^\t(?:(\w+) )?"([^"]+)"/.exec(line) ?? [];
      return path === undefined || body.includes(`${alias ?? packageName(path)}.`);
    });
  return text.slice(0, begin) + imports.join("\n") + body;
}

/** The name of a package without an alias: the last part of its path that is not a version. */
function packageName(path: string): string {
  const parts = path.split("/").filter((part) => !/^v\d+$/.test(part));
  return (parts.at(-1) as string).replace(/^go-|\.v\d+$/g, "");
}
