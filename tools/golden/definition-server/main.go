// Runs upstream's server for CustomResourceDefinitions with an embedded etcd in a temporary directory, so that a client can compare
// its answers. The arguments are flags of that server. The first line of output is its URL; it stops when standard input ends.
package main

import (
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"

	"coxswain/tools/golden/internal/fixture"
)

type logger struct{}

func (logger) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (logger) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
func (logger) Logf(string, ...any)               {}

// The server needs addresses for delegated authentication and authorization, but sends no request there.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
users: [{name: none, user: {}}]
`

func main() {
	directory, err := os.MkdirTemp("", "definition-server")
	fixture.Must(err)
	defer os.RemoveAll(directory)
	etcd := startEtcd(filepath.Join(directory, "etcd"))
	defer etcd.Close()
	file := filepath.Join(directory, "kubeconfig")
	fixture.Must(os.WriteFile(file, []byte(kubeconfig), 0o600))
	flags := append([]string{
		"--etcd-servers", etcd.Clients[0].Addr().String(),
		"--authentication-skip-lookup", "--authentication-kubeconfig", file, "--authorization-kubeconfig", file, "--kubeconfig", file,
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins",
		"NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, os.Args[1:]...)
	server := servertesting.StartTestServerOrDie(logger{}, nil, flags, nil)
	fmt.Println(server.ClientConfig.Host)
	_, err = io.Copy(io.Discard, os.Stdin)
	fixture.Must(err)
	server.TearDownFn()
}

func startEtcd(directory string) *embed.Etcd {
	config := embed.NewConfig()
	config.Dir = directory
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.EnableGRPCGateway = false
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.ListenPeerUrls = anyPort, anyPort
	etcd, err := embed.StartEtcd(config)
	fixture.Must(err)
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(time.Minute):
		log.Fatal("etcd does not start")
	}
	return etcd
}
