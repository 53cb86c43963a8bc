// Package coxswaintest starts a Kubernetes API server for a Go test.
//
// The server is the program coxswain, which answers as kube-apiserver does: it authenticates, authorizes, admits,
// validates and defaults. It keeps its objects in memory and ends with the test process, however that ends.
//
//	func TestReconcile(t *testing.T) {
//		server := coxswaintest.Start(t)
//		client := kubernetes.NewForConfigOrDie(server.Config)
//		namespace := server.Namespace(t)
//		…
//	}
//
// When a test fails, its log ends with the timeline: the requests of all clients, their results, and what they
// changed. Tests of a package can share a server: TestMain calls [Open], and each test calls [Server.Namespace], which
// also logs the timeline of its test.
//
// [Server.Install] installs manifests, [Server.AsServiceAccount] is the configuration of an operator with the rights of its
// roles, and [Server.WebhookServing] is for its webhooks. [Server.AddFault] makes requests fail, [Server.Advance] moves a
// virtual clock, and [Server.Snapshot] saves a state to which a test can return.
//
// The program is the one of [WithProgram], of the environment variable COXSWAIN, or `coxswain` in PATH.
package coxswaintest
