package environment

import (
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/recording"
)

// MustBaseEnvSet records the version for the expressions that are compiled next.
func MustBaseEnvSet(ver *version.Version) *EnvSet {
	recording.CompatibilityVersion = ver.String()
	if ver.EqualTo(DefaultCompatibilityVersion()) {
		recording.CompatibilityVersion = ""
	}
	return MustBaseEnvSetUnrecorded(ver)
}
