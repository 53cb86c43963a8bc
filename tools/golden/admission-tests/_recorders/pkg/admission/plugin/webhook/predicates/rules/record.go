package rules

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type ruleCall struct {
	Part    string                `json:"part"`
	Rule    v1.RuleWithOperations `json:"rule"`
	Request requests.Request      `json:"request"`
	Matches bool                  `json:"matches"`
}

type exemptCall struct {
	Exempt  bool             `json:"exempt"`
	Request requests.Request `json:"request"`
}

func (r *Matcher) group() bool     { return r.record("group", r.groupUnrecorded()) }
func (r *Matcher) version() bool   { return r.record("version", r.versionUnrecorded()) }
func (r *Matcher) operation() bool { return r.record("operation", r.operationUnrecorded()) }
func (r *Matcher) resource() bool  { return r.record("resource", r.resourceUnrecorded()) }
func (r *Matcher) scope() bool     { return r.record("scope", r.scopeUnrecorded()) }

func (r *Matcher) record(part string, matches bool) bool {
	recording.Write(ruleCall{part, r.Rule, requests.Of(r.Attr), matches})
	return matches
}

// IsExemptAdmissionConfigurationResource is recorded.
func IsExemptAdmissionConfigurationResource(attributes admission.Attributes) bool {
	exempt := IsExemptAdmissionConfigurationResourceUnrecorded(attributes)
	recording.Write(exemptCall{exempt, requests.Of(attributes)})
	return exempt
}
