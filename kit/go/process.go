package coxswaintest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	stderrMax    = 16 << 10
)

// process is a running `coxswain test --until-stdin-closes`.
type process struct {
	announcement
	stdin  io.Closer
	stderr *tail
	exited chan error
	kill   func() error
}

// announcement is the line that the program prints when the server is ready.
type announcement struct {
	URL        string `json:"url"`
	Kubeconfig string `json:"kubeconfig"`
}

func startProcess(o options) (*process, error) {
	program, err := findProgram(o)
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, append([]string{"test", "--until-stdin-closes"}, o.flags...)...)
	p := &process{stderr: &tail{max: stderrMax}, exited: make(chan error, 1)}
	command.Stderr = p.stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p.stdin, p.kill = stdin, command.Process.Kill
	line := make(chan []byte, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadBytes('\n') // At its end, the error of the process says more.
		line <- text
		p.exited <- command.Wait()
	}()
	select {
	case text := <-line:
		if err := json.Unmarshal(text, &p.announcement); err != nil || p.URL == "" {
			_ = p.stop()
			return nil, fmt.Errorf("%s did not start a server: %s", program, p.problem(text))
		}
		return p, nil
	case <-time.After(startTimeout):
		_ = p.kill()
		return nil, fmt.Errorf("%s did not start a server within %s: %s", program, startTimeout, p.stderr)
	}
}

// problem is what the program printed instead of the announcement.
func (p *process) problem(text []byte) string {
	return strings.TrimSpace(strings.TrimSpace(p.stderr.String()) + " " + string(text))
}

// stop ends the server and waits for the end of the process.
func (p *process) stop() error {
	_ = p.stdin.Close() // It fails when the process has ended.
	select {
	case err := <-p.exited:
		return err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("coxswain did not end within %s", stopTimeout), p.kill())
	}
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mutex sync.Mutex
	bytes []byte
	max   int
}

func (t *tail) Write(piece []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.bytes = append(t.bytes, piece...)
	if over := len(t.bytes) - t.max; over > 0 {
		t.bytes = append([]byte(nil), t.bytes[over:]...)
	}
	return len(piece), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(t.bytes)
}
