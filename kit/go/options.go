package coxswaintest

import (
	"fmt"
	"os"
	"os/exec"
)

// Option changes how a server starts.
type Option func(*options)

type options struct {
	program string
	flags   []string
}

// WithProgram sets the path of the program coxswain.
func WithProgram(path string) Option {
	return func(o *options) { o.program = path }
}

// WithFlags adds flags of the server, such as "--authorization-mode=AlwaysAllow".
func WithFlags(flags ...string) Option {
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// WithKubernetesVersion makes the server emulate a release of Kubernetes, such as "1.34": its resources, feature gates and defaults.
func WithKubernetesVersion(version string) Option {
	return WithFlags("--kubernetes-version=" + version)
}

// findProgram returns the path of the program.
func findProgram(o options) (string, error) {
	name, source := o.program, "coxswaintest.WithProgram"
	if name == "" {
		name, source = os.Getenv("COXSWAIN"), "the environment variable COXSWAIN"
	}
	if name == "" {
		name, source = "coxswain", "PATH"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("coxswain is not found by %s: %w; set COXSWAIN to the path of the program", source, err)
	}
	return path, nil
}
