package flowcontrol

import (
	"net/http"

	flowcontrol "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/endpoints/request"
)

type digest struct {
	User       string   `json:"user"`
	Groups     []string `json:"groups"`
	IsResource bool     `json:"isResourceRequest"`
	Path       string   `json:"path"`
	Verb       string   `json:"verb"`
	Group      string   `json:"group"`
	Namespace  string   `json:"namespace"`
	Resource   string   `json:"resource"`
	Part       string   `json:"subresource"`
}

func matchesPolicyRule(rd RequestDigest, rule *flowcontrol.PolicyRulesWithSubjects) bool {
	matches := matchesPolicyRuleUnrecorded(rd, rule)
	info := rd.RequestInfo
	recording.Write(map[string]any{
		"rule": rule,
		"request": digest{
			rd.User.GetName(), rd.User.GetGroups(), info.IsResourceRequest, info.Path, info.Verb, info.APIGroup,
			info.Namespace, info.Resource, info.Subresource,
		},
		"matches": matches,
	})
	return matches
}

type watched struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Verb      string `json:"verb"`
}

func watchedBy(info *request.RequestInfo) watched {
	return watched{info.APIGroup, info.Resource, info.Namespace, info.Name, info.Verb}
}

// started has the queries of the watches of each tracker.
var started = map[*watchTracker][]any{}

func (w *watchTracker) RegisterWatch(r *http.Request) ForgetWatchFunc {
	info, _ := request.RequestInfoFrom(r.Context())
	started[w] = append(started[w], map[string]any{"info": watchedBy(info), "query": r.URL.RawQuery})
	return w.RegisterWatchUnrecorded(r)
}

func (w *watchTracker) GetInterestedWatchCount(info *request.RequestInfo) int {
	count := w.GetInterestedWatchCountUnrecorded(info)
	recording.Write(map[string]any{"watches": started[w], "write": watchedBy(info), "count": count})
	return count
}

func (s *droppedRequestsStats) recordDroppedRequest(unixTime int64) {
	s.recordDroppedRequestUnrecorded(unixTime)
	if len(drops[s]) == 0 {
		firsts[s] = unixTime
	}
	drops[s] = append(drops[s], unixTime-firsts[s])
	recording.Write(map[string]any{"dropped": drops[s], "retryAfter": s.retryAfter.Load()})
}

// drops has the seconds in which requests were dropped, from the first one on.
var drops = map[*droppedRequestsStats][]int64{}
var firsts = map[*droppedRequestsStats]int64{}
