// Authenticates tokens by TokenReviews like an aggregated API server, in JSON and protobuf. Prints
// the user of each token, or the error.
//
//	go run . KUBECONFIG TOKEN...
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
		must(err)
		config.ContentType = contentType
		delegating := authenticatorfactory.DelegatingAuthenticatorConfig{
			TokenAccessReviewClient:  kubernetes.NewForConfigOrDie(config).AuthenticationV1(),
			TokenAccessReviewTimeout: 5 * time.Second,
			WebhookRetryBackoff:      &wait.Backoff{Duration: time.Millisecond, Steps: 2},
			CacheTTL:                 time.Second,
		}
		authenticate, _, err := delegating.New()
		must(err)
		for _, token := range os.Args[2:] {
			request, err := http.NewRequest("GET", "https://other.example/", nil)
			must(err)
			request.Header.Set("Authorization", "Bearer "+token)
			response, _, err := authenticate.AuthenticateRequest(request)
			if err != nil {
				fmt.Println(err)
				continue
			}
			user := response.User
			fmt.Println(user.GetName(), user.GetUID(), user.GetGroups(), user.GetExtra())
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
