// Serves the logs and streams of containers as a kubelet does, with upstream's implementation of the protocols. Commands
// run on this machine. Usage: kubelet ADDRESS CERTIFICATE KEY; it prints its port.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

type node struct{}

func (node) ExecInContainer(ctx context.Context, _, _, _ string, cmd []string, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if tty {
		go func() {
			for size := range resize {
				fmt.Fprintf(out, "size %dx%d\r\n", size.Width, size.Height)
			}
		}()
	}
	command := exec.CommandContext(ctx, cmd[0], cmd[1:]...)
	command.Stdin, command.Stdout = in, out
	command.Stderr = err
	if err == nil {
		command.Stderr = out
	}
	failure := command.Run()
	if exit, ok := failure.(*exec.ExitError); ok {
		return &utilexec.ExitErrorWrapper{ExitError: exit}
	}
	return failure
}

// AttachContainer echoes lines in capitals, until one says bye.
func (node) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	fmt.Fprintln(out, "attached")
	if in == nil {
		return nil
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fmt.Fprintln(out, strings.ToUpper(lines.Text()))
		if lines.Text() == "bye" {
			return nil
		}
	}
	return lines.Err()
}

func (node) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	done := make(chan struct{}, 2)
	go func() { io.Copy(conn, stream); conn.(*net.TCPConn).CloseWrite(); done <- struct{}{} }()
	go func() { io.Copy(stream, conn); done <- struct{}{} }()
	<-done
	return nil
}

func serveLog(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Transfer-Encoding", "chunked")
	for line := 0; line < 3; line++ {
		fmt.Fprintf(w, "%s line %d\n", r.URL.Path, line)
		w.(http.Flusher).Flush()
		if r.URL.Query().Get("follow") == "true" {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func serve(w http.ResponseWriter, r *http.Request) {
	const idle, creation = time.Hour, 30 * time.Second
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	parts := strings.Split(rest, "/")
	switch kind {
	case "containerLogs":
		serveLog(w, r)
	case "exec", "attach":
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		protocols := remotecommand.SupportedStreamingProtocols
		if kind == "exec" {
			command := r.URL.Query()["command"]
			remotecommand.ServeExec(w, r, node{}, parts[1], "", parts[2], command, options, idle, creation, protocols)
		} else {
			remotecommand.ServeAttach(w, r, node{}, parts[1], "", parts[2], options, idle, creation, protocols)
		}
	case "portForward":
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, node{}, parts[1], "", options, idle, creation, portforward.SupportedProtocols)
	default:
		http.NotFound(w, r)
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{Handler: http.HandlerFunc(serve), TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
	panic(server.ServeTLS(listener, os.Args[2], os.Args[3]))
}
