// Package gates sets the feature gates of kube-apiserver.
package gates

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"coxswain/tools/golden/internal/fixture"
)

// With sets gates such as `A=true,B=false`, or emulates a release such as `1.34`, while run runs. A release may not have gates that were set
// before.
func With(gates string, run func()) {
	gate := utilfeature.DefaultMutableFeatureGate
	if emulated, err := version.ParseGeneric(gates); err == nil {
		before := gate.EmulationVersion()
		fixture.Must(gate.SetEmulationVersion(emulated))
		run()
		fixture.Must(gate.SetEmulationVersion(before))
		return
	}
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
