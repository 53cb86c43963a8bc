// Runs upstream's sample API server with an embedded etcd in a temporary directory. The arguments are flags of that server. It stops
// when standard input ends.
package main

import (
	"context"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/sample-apiserver/pkg/cmd/server"
)

func main() {
	directory, err := os.MkdirTemp("", "sample-server")
	must(err)
	defer os.RemoveAll(directory)
	etcd := startEtcd(filepath.Join(directory, "etcd"))
	defer etcd.Close()
	ctx, stop := context.WithCancel(context.Background())
	command := server.NewCommandStartWardleServer(ctx, server.NewWardleServerOptions(os.Stdout, os.Stderr), false)
	command.SetArgs(append([]string{"--etcd-servers", etcd.Clients[0].Addr().String()}, os.Args[1:]...))
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		must(err)
		stop()
	}()
	must(command.ExecuteContext(ctx))
}

func startEtcd(directory string) *embed.Etcd {
	config := embed.NewConfig()
	config.Dir = directory
	config.LogLevel = "error"
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.UnsafeNoFsync = true
	config.EnableGRPCGateway = false
	config.ListenClientUrls, config.ListenPeerUrls = anyPort, anyPort
	etcd, err := embed.StartEtcd(config)
	must(err)
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(time.Minute):
		log.Fatal("etcd does not start")
	}
	return etcd
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
