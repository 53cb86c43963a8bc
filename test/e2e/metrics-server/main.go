// Runs metrics-server. The arguments are its flags. It stops when standard input ends.
package main

import (
	"io"
	"log"
	"os"

	"sigs.k8s.io/metrics-server/cmd/metrics-server/app"
)

func main() {
	stop := make(chan struct{})
	go func() {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			log.Fatal(err)
		}
		close(stop)
	}()
	if err := app.NewMetricsServerCommand(stop).Execute(); err != nil {
		log.Fatal(err)
	}
}
