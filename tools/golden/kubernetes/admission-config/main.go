// Records how upstream reads the configuration of admission plugins: the file of --admission-control-config-file
// (argument `files`), static manifests (`manifests`), and the credentials that a kubeconfig has for webhooks
// (`credentials`). Reads rows from standard input and replaces the result of each. In rows, `/dir` is the directory
// of their files.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	policyconfig "k8s.io/apiserver/pkg/admission/plugin/policy/config"
	webhookconfig "k8s.io/apiserver/pkg/admission/plugin/webhook/config"
	apiserverinstall "k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	policyloader "k8s.io/kubernetes/pkg/admission/plugin/policy/manifest/loader"
	webhookloader "k8s.io/kubernetes/pkg/admission/plugin/webhook/manifest/loader"
	"k8s.io/kubernetes/plugin/pkg/admission/eventratelimit"
	"k8s.io/kubernetes/plugin/pkg/admission/imagepolicy"
	"k8s.io/kubernetes/plugin/pkg/admission/podnodeselector"
	"k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What  string            `json:"what"`
	Files map[string]string `json:"files,omitempty"`
	// Directories to create without files.
	Directories []string `json:"directories,omitempty"`
	Gate        bool     `json:"gate,omitempty"`
	// Plugins that run in addition to those of webhooks and policies.
	Enable     []string `json:"enable,omitempty"`
	Plugin     string   `json:"plugin,omitempty"`
	Kubeconfig string   `json:"kubeconfig,omitempty"`
	Targets    []string `json:"targets,omitempty"`

	Error       string              `json:"error,omitempty"`
	Plugins     map[string]settings `json:"plugins,omitempty"`
	Hash        string              `json:"hash,omitempty"`
	Objects     []any               `json:"objects,omitempty"`
	Credentials []credentials       `json:"credentials,omitempty"`
}

type settings struct {
	KubeConfigFile     string `json:"kubeConfigFile,omitempty"`
	StaticManifestsDir string `json:"staticManifestsDir,omitempty"`
}

type credentials struct {
	Error     string `json:"error,omitempty"`
	Token     string `json:"token,omitempty"`
	TokenFile string `json:"tokenFile,omitempty"`
	Username  string `json:"username,omitempty"`
	Password  string `json:"password,omitempty"`
	Cert      string `json:"cert,omitempty"`
	Key       string `json:"key,omitempty"`
}

func main() {
	record := map[string]func(*row, string) error{"files": readFiles, "manifests": loadManifests, "credentials": resolve}[os.Args[1]]
	for r := range fixture.Rows[row]() {
		r.Error, r.Plugins, r.Hash, r.Objects, r.Credentials = "", nil, "", nil, nil
		directory := writeFiles(r)
		setGate(r.Gate)
		if err := record(&r, directory); err != nil {
			r.Error = strings.ReplaceAll(err.Error(), directory, "/dir")
		}
		fixture.Must(os.RemoveAll(directory))
		fixture.Write(r)
	}
}

func setGate(enabled bool) {
	fixture.Must(utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("%s=%v", features.ManifestBasedAdmissionControlConfig, enabled)))
}

func writeFiles(r row) string {
	directory, err := os.MkdirTemp("", "golden")
	fixture.Must(err)
	for _, name := range r.Directories {
		fixture.Must(os.MkdirAll(filepath.Join(directory, name), 0o755))
	}
	for name, content := range r.Files {
		path := filepath.Join(directory, name)
		fixture.Must(os.MkdirAll(filepath.Dir(path), 0o755))
		fixture.Must(os.WriteFile(path, []byte(strings.ReplaceAll(content, "/dir", directory)), 0o644))
	}
	return directory
}

// optional are the other plugins with a configuration, in the order of kube-apiserver.
var optional = []string{"ImagePolicyWebhook", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit"}

// pluginOrder is that of kube-apiserver.
var pluginOrder = []string{"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"}

// readFiles reads config.yaml and each plugin's configuration.
func readFiles(r *row, directory string) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiserver(scheme))
	order := append(enabled(*r), pluginOrder...)
	provider, err := admission.ReadAdmissionConfiguration(order, filepath.Join(directory, "config.yaml"), scheme)
	if err != nil {
		return fmt.Errorf("failed to read plugin config: %v", err)
	}
	found := map[string]settings{}
	plugins := admission.NewPlugins()
	imagepolicy.Register(plugins)
	podnodeselector.Register(plugins)
	podtolerationrestriction.Register(plugins)
	eventratelimit.Register(plugins)
	for _, name := range pluginOrder {
		plugins.Register(name, func(config io.Reader) (admission.Interface, error) {
			one, err := read(name, config)
			if one != (settings{}) {
				found[name] = settings{
					strings.ReplaceAll(one.KubeConfigFile, directory, "/dir"),
					strings.ReplaceAll(one.StaticManifestsDir, directory, "/dir"),
				}
			}
			return admission.NewHandler(), err
		})
	}
	client := kubernetes.NewForConfigOrDie(&rest.Config{})
	initializer := initializer.New(client, nil, informers.NewSharedInformerFactory(client, 0), nil, nil, nil, nil, nil)
	if _, err := plugins.NewFromPlugins(order, provider, initializer, nil); err != nil {
		return err
	}
	r.Plugins = found
	return nil
}

func enabled(r row) (names []string) {
	for _, name := range optional {
		if slices.Contains(r.Enable, name) {
			names = append(names, name)
		}
	}
	return names
}

func apiserver(scheme *runtime.Scheme) error {
	apiserverinstall.Install(scheme)
	return nil
}

func read(name string, config io.Reader) (settings, error) {
	switch name {
	case "ValidatingAdmissionPolicy":
		found, err := policyconfig.LoadValidatingConfig(config)
		return settings{StaticManifestsDir: found.StaticManifestsDir}, err
	case "MutatingAdmissionPolicy":
		found, err := policyconfig.LoadMutatingConfig(config)
		return settings{StaticManifestsDir: found.StaticManifestsDir}, err
	}
	found, err := webhookconfig.LoadConfig(config)
	if err != nil {
		return settings{}, err
	}
	return settings{found.KubeConfigFile, found.StaticManifestsDir}, nil
}

func loadManifests(r *row, directory string) error {
	objects, hash, err := load(r.Plugin, directory)
	r.Objects, r.Hash = objects, hash
	return err
}

func load(plugin, directory string) (objects []any, hash string, err error) {
	switch plugin {
	case "ValidatingAdmissionWebhook":
		result, err := webhookloader.LoadValidatingManifests(directory)
		if err != nil {
			return nil, "", err
		}
		return list(result.Configurations), result.Hash, nil
	case "MutatingAdmissionWebhook":
		result, err := webhookloader.LoadMutatingManifests(directory)
		if err != nil {
			return nil, "", err
		}
		return list(result.Configurations), result.Hash, nil
	case "ValidatingAdmissionPolicy":
		result, err := policyloader.LoadValidatingManifestsFromDirectory(directory)
		if err != nil {
			return nil, "", err
		}
		return append(list(result.Policies), list(result.Bindings)...), result.Hash, nil
	case "MutatingAdmissionPolicy":
		result, err := policyloader.LoadMutatingManifestsFromDirectory(directory)
		if err != nil {
			return nil, "", err
		}
		return append(list(result.Policies), list(result.Bindings)...), result.Hash, nil
	}
	log.Fatalf("unknown plugin %q", plugin)
	return nil, "", errors.ErrUnsupported
}

func list[T any](items []T) []any {
	all := make([]any, len(items))
	for i, item := range items {
		all[i] = item
	}
	return all
}

// resolve asks for the credentials of each target, `host:port`.
func resolve(r *row, directory string) error {
	file := ""
	if r.Kubeconfig != "" {
		file = filepath.Join(directory, "kubeconfig")
		fixture.Must(os.WriteFile(file, []byte(r.Kubeconfig), 0o644))
	}
	resolver, err := webhookutil.NewDefaultAuthenticationInfoResolver(file)
	if err != nil {
		return err
	}
	for _, target := range r.Targets {
		config, err := resolver.ClientConfigFor(target)
		if err != nil {
			r.Credentials = append(r.Credentials, credentials{Error: strings.ReplaceAll(err.Error(), directory, "/dir")})
			continue
		}
		r.Credentials = append(r.Credentials, credentialsOf(config, directory))
	}
	return nil
}

func credentialsOf(config *rest.Config, directory string) credentials {
	return credentials{
		Token:     config.BearerToken,
		TokenFile: strings.ReplaceAll(config.BearerTokenFile, directory, "/dir"),
		Username:  config.Username,
		Password:  config.Password,
		Cert:      string(config.CertData) + strings.ReplaceAll(config.CertFile, directory, "/dir"),
		Key:       string(config.KeyData) + strings.ReplaceAll(config.KeyFile, directory, "/dir"),
	}
}
