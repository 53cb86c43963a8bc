// Command etcd runs the etcd server of the module go.etcd.io/etcd/server/v3, for tests and benchmarks.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
