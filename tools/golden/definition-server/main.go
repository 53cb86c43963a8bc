// Runs upstream's own server of definitions, with an etcd of its own in a directory that goes with it, so that answers can be held against it. Its
// arguments are that server's flags. The first line of its output says where it is; it ends with its standard input.
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
)

type logger struct{}

func (logger) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (logger) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
func (logger) Logf(string, ...any)               {}

// Nobody is asked who may do what; the server wants to know whom it would ask.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
users: [{name: none, user: {}}]
`

func main() {
	directory, err := os.MkdirTemp("", "crd-server")
	check(err)
	defer os.RemoveAll(directory)
	etcd := startEtcd(filepath.Join(directory, "etcd"))
	defer etcd.Close()
	file := filepath.Join(directory, "kubeconfig")
	check(os.WriteFile(file, []byte(kubeconfig), 0o600))
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
	check(err)
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
	check(err)
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(time.Minute):
		log.Fatal("etcd does not start")
	}
	return etcd
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
