// Package gates sets the feature gates of kube-apiserver.
package gates

import (
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"coxswain/tools/golden/internal/fixture"
)

// With sets gates such as `A=true,B=false` while run runs.
func With(gates string, run func()) {
	gate := utilfeature.DefaultMutableFeatureGate
	before := map[string]bool{}
	for _, pair := range strings.Split(gates, ",") {
		if name, _, found := strings.Cut(pair, "="); found {
			before[name] = gate.Enabled(featuregate.Feature(name))
		}
	}
	fixture.Must(gate.Set(gates))
	run()
	fixture.Must(gate.SetFromMap(before))
}
