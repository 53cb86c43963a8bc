package testing

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
)

type call struct {
	Plugin   string           `json:"plugin"`
	Webhooks any              `json:"webhooks"`
	Request  requests.Request `json:"request"`
	Answers  []Answer         `json:"answers,omitempty"`
	// Labels are those of the object after the call.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Rejections  []string          `json:"rejections,omitempty"`
	Status      *metav1.Status    `json:"status,omitempty"`
}

// Record calls a plugin.
func Record(plugin string, attributes admission.Attributes, run func() error) error {
	described := requests.Of(attributes)
	admissionmetrics.Metrics.WebhookRejectionGathererForTest().Reset()
	Answers()
	err := run()
	recorded := call{
		Plugin: plugin, Webhooks: Webhooks, Request: described, Answers: Answers(), Rejections: rejections(),
		Labels: attributes.GetObject().(metav1.Object).GetLabels(),
	}
	slices.SortFunc(recorded.Answers, func(one, other Answer) int { return strings.Compare(one.Path, other.Path) })
	if fake, ok := attributes.(*FakeAttributes); ok {
		recorded.Annotations = fake.GetAnnotations(auditinternal.LevelMetadata)
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		recorded.Status = status.ErrStatus.DeepCopy()
		constant(recorded.Status, len(recorded.Rejections))
	}
	recording.Write(recorded)
	return err
}

var (
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	name    = regexp.MustCompile(`webhook "[^"]*"`)
)

// constant removes the port, and the name of the webhook that failed first of several.
func constant(status *metav1.Status, rejections int) {
	texts := []*string{&status.Message}
	if status.Details != nil {
		for i := range status.Details.Causes {
			texts = append(texts, &status.Details.Causes[i].Message)
		}
	}
	for _, text := range texts {
		*text = address.ReplaceAllString(*text, "webhook.test")
		if rejections > 1 {
			*text = name.ReplaceAllString(*text, "webhook ANY")
		}
	}
}

// rejections returns the labels of the metric, sorted.
func rejections() []string {
	found := make(chan prometheus.Metric, 100)
	admissionmetrics.Metrics.WebhookRejectionGathererForTest().Collect(found)
	close(found)
	var texts []string
	for metric := range found {
		var written dto.Metric
		if err := metric.Write(&written); err != nil {
			panic(err)
		}
		var labels []string
		for _, label := range written.Label {
			labels = append(labels, label.GetName()+"="+label.GetValue())
		}
		texts = append(texts, strings.Join(labels, " "))
	}
	slices.Sort(texts)
	return texts
}
