// Records the flags of kube-apiserver: group, name, type, default and deprecation of each, as its --help has them.
package main

import (
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register" // As the program does: it adds the flags of the format.
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Group      string `json:"group"`
	Name       string `json:"name"`
	Shorthand  string `json:"shorthand,omitempty"`
	Type       string `json:"type"`
	Default    string `json:"default"`
	Deprecated string `json:"deprecated,omitempty"`
	Hidden     bool   `json:"hidden,omitempty"`
}

func main() {
	sets := options.NewServerRunOptions().Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), "kube-apiserver", logs.SkipLoggingConfigurationFlags())
	for _, group := range sets.Order {
		sets.FlagSets[group].VisitAll(func(f *pflag.Flag) {
			fixture.Write(row{group, f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Deprecated, f.Hidden})
		})
	}
}
