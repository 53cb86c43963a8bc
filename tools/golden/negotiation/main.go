// Prints how upstream answers the requests on standard input, one JSON object a line: `want` is made anew. `verb` is get, list or watch; `custom`
// tells of a custom resource, `cbor` of a server that has its gate on, `plain` of an answer that is no object of a resource, such as an error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

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
	if err := utilfeature.DefaultMutableFeatureGate.Set("CBORServingAndStorage=true"); err != nil { // Of no effect on codecs without CBOR.
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var given row
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			log.Fatal(err)
		}
		given.Want = answer(given)
		if err := out.Encode(given); err != nil {
			log.Fatal(err)
		}
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

// route passes a router first, as requests for built-in resources do.
func route(given row, request *http.Request) string {
	mediaTypes, streamMediaTypes := negotiation.MediaTypesForSerializer(given.codecs())
	if given.Verb != "get" {
		mediaTypes = append(mediaTypes, streamMediaTypes...)
	}
	told := ""
	service := new(restful.WebService).Path("/")
	service.Route(service.GET("/x").Produces(mediaTypes...).To(func(request *restful.Request, _ *restful.Response) {
		told = negotiate(given, request.Request)
	}))
	container := restful.NewContainer()
	container.ServiceErrorHandler(func(err restful.ServiceError, _ *restful.Request, _ *restful.Response) {
		told = refusal(err.Code, err.Message)
	})
	container.Add(service)
	container.ServeHTTP(httptest.NewRecorder(), request)
	return told
}

func negotiate(given row, request *http.Request) string {
	var restrictions negotiation.EndpointRestrictions = scope(given)
	if given.Plain {
		restrictions = negotiation.DefaultEndpointRestrictions
	}
	options, info, err := negotiation.NegotiateOutputMediaType(request, given.codecs(), restrictions)
	if err != nil {
		return refusal(http.StatusNotAcceptable, err.Error())
	}
	if given.Verb == "watch" {
		if info, err = negotiation.NegotiateOutputMediaTypeStream(request, given.codecs(), restrictions); err != nil {
			return refusal(http.StatusNotAcceptable, err.Error())
		}
	}
	told := info.MediaType
	if info.PrettySerializer != nil && info.Serializer == info.PrettySerializer {
		told += " pretty"
	}
	if options.Convert != nil {
		told += " " + options.Convert.Kind + " " + options.Convert.Version
	}
	return told
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

func refusal(code int, message string) string {
	return fmt.Sprintf("%d %s", code, message)
}
