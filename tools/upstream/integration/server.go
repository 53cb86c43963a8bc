// Package testing: the server under test for upstream's integration tests, in place of their kube-apiserver in the process of the test.
package testing

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/tracing"
	baseversion "k8s.io/component-base/version"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// The command of the server and flags for all tests, as JSON lists of texts.
const (
	commandVariable = "COXSWAIN_UNDER_TEST"
	flagsVariable   = "COXSWAIN_UNDER_TEST_FLAGS"
)

const (
	loopbackToken = "loopback-of-the-integration-tests"
	startTimeout  = time.Minute
	stopTimeout   = 10 * time.Second
)

// Flags whose values the adapter makes itself, or that only upstream's process has.
var ownFlags = map[string]bool{
	"authorization-mode":               true,
	"bind-address":                     true,
	"secure-port":                      true,
	"service-account-key-file":         true,
	"service-account-signing-key-file": true,
	"token-auth-file":                  true,
	"feature-gates":                    true,
	"storage-backend":                  true,
	"external-hostname":                true,
	"vmodule":                          true,
}

// A StartedServer is the process of the server under test.
type StartedServer struct {
	// Config is that of a client with all rights.
	Config *rest.Config
	// Exited receives the error of a server that ends by itself, and is closed when the process has ended.
	Exited chan error
	stop   func()
}

// StopWith ends the server when the context does.
func (s *StartedServer) StopWith(ctx context.Context) {
	go func() {
		<-ctx.Done()
		s.stop()
	}()
}

// StartUnderTest starts the command with the flags of the options. The flag sets are those of the options, which hold their values.
func StartUnderTest(o *options.ServerRunOptions, sets cliflag.NamedFlagSets, directory string, port int) (*StartedServer, error) {
	var command, extra []string
	if err := json.Unmarshal([]byte(os.Getenv(commandVariable)), &command); err != nil {
		return nil, fmt.Errorf("%s: %w", commandVariable, err)
	}
	if err := json.Unmarshal([]byte(os.Getenv(flagsVariable)), &extra); err != nil {
		return nil, fmt.Errorf("%s: %w", flagsVariable, err)
	}
	made, err := flagsOf(o, sets, directory)
	if err != nil {
		return nil, err
	}
	args := append(append(command[1:], made...), "--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port), "--data-dir="+filepath.Join(directory, "data"))
	return start(command[0], append(args, extra...), o, directory, port)
}

// flagsOf returns each flag whose value is not the default.
func flagsOf(o *options.ServerRunOptions, sets cliflag.NamedFlagSets, directory string) ([]string, error) {
	values := map[string][]string{}
	defaults := options.NewServerRunOptions().Flags()
	for name, set := range sets.FlagSets {
		set.VisitAll(func(flag *pflag.Flag) {
			other := defaults.FlagSets[name].Lookup(flag.Name)
			if !ownFlags[flag.Name] && (other == nil || other.Value.String() != flag.Value.String()) {
				values[flag.Name] = textsOf(flag.Value)
			}
		})
	}
	// Tests replace these structures after their flags were made.
	if r := o.Authentication.RequestHeader; r != nil && r.ClientCAFile != "" {
		values["requestheader-client-ca-file"] = []string{r.ClientCAFile}
		values["requestheader-allowed-names"] = []string{strings.Join(r.AllowedNames, ",")}
		values["requestheader-username-headers"] = []string{strings.Join(r.UsernameHeaders, ",")}
		values["requestheader-group-headers"] = []string{strings.Join(r.GroupHeaders, ",")}
		values["requestheader-extra-headers-prefix"] = []string{strings.Join(r.ExtraHeaderPrefixes, ",")}
		if len(r.UIDHeaders) > 0 {
			values["requestheader-uid-headers"] = []string{strings.Join(r.UIDHeaders, ",")}
		}
	}
	if o.Authorization != nil && o.Authorization.AuthorizationConfigurationFile == "" {
		modes := o.Authorization.Modes
		if len(modes) == 0 {
			modes = []string{"AlwaysAllow"}
		}
		values["authorization-mode"] = []string{strings.Join(modes, ",")}
	}
	values["feature-gates"] = changedGates()
	if values["emulated-version"] == nil {
		values["emulated-version"] = emulatedVersion()
	}
	var err error
	if values["token-auth-file"], err = tokensWithLoopback(o, directory); err != nil {
		return nil, err
	}
	if values["service-account-signing-key-file"], values["service-account-key-file"], err = tokenKeys(o, directory); err != nil {
		return nil, err
	}
	names := []string{}
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	flags := []string{}
	for _, name := range names {
		// The order of the values of a list has a meaning.
		for _, text := range values[name] {
			flags = append(flags, "--"+name+"="+text)
		}
	}
	return flags, nil
}

func textsOf(value pflag.Value) []string {
	switch value := value.(type) {
	case pflag.SliceValue:
		return value.GetSlice()
	case *cliflag.NamedCertKeyArray:
		// "cert,key:name,name;cert,key"
		return strings.Split(strings.Trim(value.String(), "[]"), ";")
	}
	return []string{strings.TrimSuffix(strings.TrimPrefix(value.String(), "["), "]")}
}

// The oldest release that the flag accepts. Tests can set gates to an older one, which no server process can have.
var oldestEmulated = version.MajorMinor(1, 33)

// emulatedVersion returns the release whose gates a test has set.
func emulatedVersion() []string {
	emulated := utilfeature.DefaultMutableFeatureGate.EmulationVersion()
	if emulated.LessThan(oldestEmulated) || emulated.AtLeast(version.MustParse(baseversion.DefaultKubeBinaryVersion)) {
		return nil
	}
	return []string{emulated.String()}
}

// Gates of kube-controller-manager, which only the process of the test knows, as it has the code of both.
var foreignGates = map[string]bool{"ControllerManagerReleaseLeaderElectionLockOnExit": true}

func changedGates() []string {
	gates := []string{}
	for name, gate := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		enabled := utilfeature.DefaultFeatureGate.Enabled(name)
		if name != "AllAlpha" && name != "AllBeta" && !foreignGates[string(name)] && enabled != gate.Default && !gate.LockToDefault {
			gates = append(gates, fmt.Sprintf("%s=%t", name, enabled))
		}
	}
	if len(gates) == 0 {
		return nil
	}
	sort.Strings(gates)
	return []string{strings.Join(gates, ",")}
}

// tokensWithLoopback writes the tokens of the test and that of the loopback client.
func tokensWithLoopback(o *options.ServerRunOptions, directory string) ([]string, error) {
	tokens := ""
	if file := o.Authentication.TokenFile; file != nil && file.TokenFile != "" {
		text, err := os.ReadFile(file.TokenFile)
		if err != nil {
			return nil, err
		}
		tokens = strings.TrimRight(string(text), "\n") + "\n"
	}
	tokens += fmt.Sprintf("%s,%s,loopback,%q\n", loopbackToken, user.APIServerUser, user.SystemPrivilegedGroup)
	path := filepath.Join(directory, "tokens.csv")
	return []string{path}, os.WriteFile(path, []byte(tokens), 0600)
}

// tokenKeys copies the key that signs tokens: tests remove theirs once the server of their process has read it.
func tokenKeys(o *options.ServerRunOptions, directory string) (signing, verifying []string, err error) {
	verifying = append(verifying, o.Authentication.ServiceAccounts.KeyFiles...)
	if o.ServiceAccountSigningKeyFile == "" {
		return nil, verifying, nil
	}
	path := filepath.Join(directory, "tokens.key")
	text, err := os.ReadFile(o.ServiceAccountSigningKeyFile)
	if err != nil {
		return nil, nil, err
	}
	for i := range verifying {
		if verifying[i] == o.ServiceAccountSigningKeyFile {
			verifying[i] = path
		}
	}
	return []string{path}, verifying, os.WriteFile(path, text, 0600)
}

func start(program string, args []string, o *options.ServerRunOptions, directory string, port int) (*StartedServer, error) {
	path := filepath.Join(directory, "server.log")
	log, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, err
	}
	server := &StartedServer{Exited: make(chan error, 1)}
	done := make(chan struct{})
	stopping := make(chan struct{})
	go func() {
		err := command.Wait()
		log.Close()
		select {
		case <-stopping:
		default:
			text, _ := os.ReadFile(path)
			server.Exited <- fmt.Errorf("%s %v ended: %v: %s", program, args, err, text[max(0, len(text)-4000):])
		}
		close(server.Exited)
		close(done)
	}()
	server.stop = func() {
		close(stopping)
		command.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(stopTimeout):
			command.Process.Kill()
			<-done
		}
	}
	server.Config = &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", port), BearerToken: loopbackToken}
	if server.Config.CAData, err = os.ReadFile(o.SecureServing.ServerCert.CertKey.CertFile); err != nil {
		return server, err
	}
	server.Config.ServerName = serverNameOf(server.Config.CAData)
	if o.Traces.ConfigFile != "" { // As upstream does with the client of its own process: it sends the context of the test.
		server.Config.ContentType = "application/vnd.kubernetes.protobuf"
		server.Config.Wrap(tracing.WrapperFor(tracing.NewNoopTracerProvider()))
	}
	return server, waitForListener(server, port)
}

// serverNameOf returns a name of a certificate that has no name for 127.0.0.1, such as one for --advertise-address.
func serverNameOf(certificate []byte) string {
	found, err := cert.ParseCertsPEM(certificate)
	if err != nil || len(found[0].DNSNames) == 0 || found[0].VerifyHostname("127.0.0.1") == nil {
		return ""
	}
	return found[0].DNSNames[0]
}

func waitForListener(server *StartedServer, port int) error {
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-server.Exited:
			return err
		default:
		}
		if connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return connection.Close()
		}
	}
	return fmt.Errorf("the server does not listen after %v", startTimeout)
}
