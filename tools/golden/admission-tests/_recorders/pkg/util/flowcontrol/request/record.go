package request

import (
	"net/http"

	"k8s.io/apiserver/pkg/admission/recording"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

func (e *listWorkEstimator) estimate(r *http.Request, flowSchemaName, priorityLevelName string) WorkEstimate {
	result := e.estimateUnrecorded(r, flowSchemaName, priorityLevelName)
	info, ok := apirequest.RequestInfoFrom(r.Context())
	if !ok {
		return result
	}
	stats, err := e.statsGetterFn(key(info))
	recording.Write(map[string]any{
		"verb": info.Verb, "name": info.Name, "query": r.URL.RawQuery, "maxSeats": e.maxSeatsFn(priorityLevelName),
		"objects": stats.ObjectCount, "objectBytes": stats.EstimatedAverageObjectSizeBytes, "error": recording.Message(err),
		"bySize": utilfeature.DefaultFeatureGate.Enabled(features.SizeBasedListCostEstimate), "work": result,
	})
	return result
}

func (e *mutatingWorkEstimator) estimate(r *http.Request, flowSchemaName, priorityLevelName string) WorkEstimate {
	result := e.estimateUnrecorded(r, flowSchemaName, priorityLevelName)
	info, ok := apirequest.RequestInfoFrom(r.Context())
	if !ok {
		return result
	}
	recording.Write(map[string]any{
		"verb": info.Verb, "resource": info.Resource, "subresource": info.Subresource, "watches": e.countFn(info),
		"maxSeats": e.maxSeatsFn(priorityLevelName), "work": result,
	})
	return result
}
