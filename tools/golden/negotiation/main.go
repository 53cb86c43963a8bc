// Records which media type upstream negotiates for each request on standard input, and replaces `want`. `verb` is get, list or watch;
// `custom` marks a custom resource, `cbor` a server with that feature gate, `plain` an answer that is not an object of a resource,
// such as an error.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/emicklei/go-restful/v3"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Verb      string `json:"verb"`
	Custom    bool   `json:"custom,omitempty"`
	CBOR      bool   `json:"cbor,omitempty"`
	Plain     bool   `json:"plain,omitempty"`
	Accept    string `json:"accept"`
	Query     string `json:"query,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	Want      string `json:"want"`
}

var codecsWithCBOR = serializer.NewCodecFactory(metainternalversionscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))

func (given row) codecs() serializer.CodecFactory {
	if given.CBOR {
		return codecsWithCBOR
	}
	return metainternalversionscheme.Codecs
}

func main() {
	fixture.Must(utilfeature.DefaultMutableFeatureGate.Set("CBORServingAndStorage=true")) // No effect on codecs without CBOR.
	for given := range fixture.Rows[row]() {
		given.Want = answer(given)
		fixture.Write(given)
	}
}

func answer(given row) string {
	request := httptest.NewRequest(http.MethodGet, "/x?"+given.Query, nil)
	request.Header.Set("User-Agent", given.UserAgent)
	if given.Accept != "" {
		request.Header.Set("Accept", given.Accept)
	}
	if given.Custom || given.Plain {
		return negotiate(given, request)
	}
	return route(given, request)
}

// route sends the request through a router first, as upstream does for built-in resources.
func route(given row, request *http.Request) string {
	mediaTypes, streamMediaTypes := negotiation.MediaTypesForSerializer(given.codecs())
	if given.Verb != "get" {
		mediaTypes = append(mediaTypes, streamMediaTypes...)
	}
	answered := ""
	service := new(restful.WebService).Path("/")
	service.Route(service.GET("/x").Produces(mediaTypes...).To(func(request *restful.Request, _ *restful.Response) {
		answered = negotiate(given, request.Request)
	}))
	container := restful.NewContainer()
	container.ServiceErrorHandler(func(err restful.ServiceError, _ *restful.Request, _ *restful.Response) {
		answered = failure(err.Code, err.Message)
	})
	container.Add(service)
	container.ServeHTTP(httptest.NewRecorder(), request)
	return answered
}

func negotiate(given row, request *http.Request) string {
	var restrictions negotiation.EndpointRestrictions = scope(given)
	if given.Plain {
		restrictions = negotiation.DefaultEndpointRestrictions
	}
	options, info, err := negotiation.NegotiateOutputMediaType(request, given.codecs(), restrictions)
	if err != nil {
		return failure(http.StatusNotAcceptable, err.Error())
	}
	if given.Verb == "watch" {
		if info, err = negotiation.NegotiateOutputMediaTypeStream(request, given.codecs(), restrictions); err != nil {
			return failure(http.StatusNotAcceptable, err.Error())
		}
	}
	chosen := info.MediaType
	if info.PrettySerializer != nil && info.Serializer == info.PrettySerializer {
		chosen += " pretty"
	}
	if options.Convert != nil {
		chosen += " " + options.Convert.Kind + " " + options.Convert.Version
	}
	return chosen
}

func scope(given row) *handlers.RequestScope {
	made := &handlers.RequestScope{
		Serializer:       given.codecs(),
		TableConvertor:   rest.NewDefaultTableConvertor(schema.GroupResource{Resource: "x"}),
		MetaGroupVersion: metav1.SchemeGroupVersion,
	}
	for _, info := range given.codecs().SupportedMediaTypes() {
		if given.Custom && info.MediaType != runtime.ContentTypeProtobuf {
			made.StandardSerializers = append(made.StandardSerializers, info)
		}
	}
	return made
}

func failure(code int, message string) string {
	return fmt.Sprintf("%d %s", code, message)
}
