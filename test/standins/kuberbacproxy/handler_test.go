package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	prometheus = "system:serviceaccount:openshift-monitoring:prometheus-k8s"
	token      = "prometheus-token"
)

// apiServer knows one token, and keeps the questions that it was asked.
type apiServer struct {
	// allowed answers them; refusals are the resources that the proxy may not create.
	allowed  func(authorizationv1.SubjectAccessReviewSpec) bool
	refusals []string

	mu      sync.Mutex
	reviews []authorizationv1.SubjectAccessReviewSpec
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || err != nil {
		http.Error(w, "only reviews are known", http.StatusNotFound)
		return
	}
	if resource == "subjectaccessreviews" {
		s.keep(body)
	}
	if slices.Contains(s.refusals, resource) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil).Status())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(s.answer(resource, body))
}

func (s *apiServer) keep(body []byte) {
	var review authorizationv1.SubjectAccessReview
	_ = json.Unmarshal(body, &review)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reviews = append(s.reviews, review.Spec)
}

func (s *apiServer) answer(resource string, body []byte) any {
	if resource == "subjectaccessreviews" {
		var review authorizationv1.SubjectAccessReview
		_ = json.Unmarshal(body, &review)
		review.Status.Allowed = s.allowed(review.Spec)
		return review
	}
	var review authenticationv1.TokenReview
	_ = json.Unmarshal(body, &review)
	if review.Spec.Token == token && len(review.Spec.Audiences) == 0 {
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: prometheus, Groups: []string{"a", "b"}}}
	}
	return review
}

func (s *apiServer) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func everything(authorizationv1.SubjectAccessReviewSpec) bool { return true }

func metricsOnly(s authorizationv1.SubjectAccessReviewSpec) bool {
	return s.User == prometheus && s.NonResourceAttributes != nil && s.NonResourceAttributes.Path == "/metrics" && s.NonResourceAttributes.Verb == "get"
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		reason      string
		options     options
		path, token string
		refusals    []string
		code        int
		asked       int
	}{
		"Allowed":        {reason: "Prometheus may read metrics, but not unasked", path: "/metrics", token: token, code: 200, asked: 1},
		"NoToken":        {reason: "nobody knows who asks", path: "/metrics", code: 401},
		"WrongToken":     {reason: "the API server does not know it", path: "/metrics", token: "else", code: 401},
		"Forbidden":      {reason: "the user has no right to that path", path: "/debug", token: token, code: 403, asked: 1},
		"MayNotAsk":      {reason: "its account has no right to subjectaccessreviews", path: "/metrics", token: token, refusals: []string{"subjectaccessreviews"}, code: 500, asked: 1},
		"MayNotReview":   {reason: "its account has no right to tokenreviews", path: "/metrics", token: token, refusals: []string{"tokenreviews"}, code: 401},
		"OtherPath":      {reason: "the path is not offered", options: options{allowPaths: []string{"/metrics"}}, path: "/debug", token: token, code: 404},
		"OfferedPath":    {reason: "the path is offered", options: options{allowPaths: []string{"/m*"}}, path: "/metrics", token: token, code: 200, asked: 1},
		"OpenPath":       {reason: "the path is everybody's", options: options{ignorePaths: []string{"/healthz"}}, path: "/healthz", code: 200},
		"OpenPathsOnly":  {reason: "another path is not", options: options{ignorePaths: []string{"/healthz"}}, path: "/metrics", code: 401},
		"WrongAudience":  {reason: "the token is for somebody else", options: options{audiences: []string{"else"}}, path: "/metrics", token: token, code: 401},
		"NoRewriteValue": {reason: "the parameter that decides is missing", options: options{configFile: "testdata/rewrite.yaml"}, path: "/metrics", token: token, code: 400},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{allowed: metricsOnly, refusals: tc.refusals}
			code, _ := ask(t, &tc.options, server.client(t), tc.path, tc.token)
			if code != tc.code || len(server.reviews) != tc.asked {
				t.Errorf("%s: code %d after %d reviews, want %d after %d", tc.reason, code, len(server.reviews), tc.code, tc.asked)
			}
		})
	}
}

// ask sends one request through the proxy; the upstream answers with the headers that it saw.
func ask(t *testing.T, o *options, client kubernetes.Interface, path, token string) (int, http.Header) {
	t.Helper()
	var seen http.Header
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header }))
	t.Cleanup(upstream.Close)
	o.upstream = upstream.URL + "/"
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	handler, err := newHandler(ctx, o, client)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, path, nil)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code, seen
}

// TestQuestions compares what the API server is asked with what the configuration says.
func TestQuestions(t *testing.T) {
	tests := map[string]struct {
		reason string
		config string
		path   string
		want   []authorizationv1.SubjectAccessReviewSpec
	}{
		"Path": {
			reason: "without a configuration the path counts", path: "/metrics",
			want: []authorizationv1.SubjectAccessReviewSpec{{NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}}},
		},
		"Resource": {
			reason: "the configuration names a resource", path: "/metrics",
			config: "authorization:\n  resourceAttributes: {namespace: ns, apiVersion: v1, resource: services, subresource: proxy, name: web}\n",
			want: []authorizationv1.SubjectAccessReviewSpec{
				{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "ns", Verb: "get", Version: "v1", Resource: "services", Subresource: "proxy", Name: "web"}},
			},
		},
		"Rewrite": {
			reason: "each value is asked about", path: "/metrics?namespace=one&namespace=two",
			config: "authorization:\n  rewrites: {byQueryParameter: {name: namespace}}\n  resourceAttributes: {resource: pods, namespace: '{{ .Value }}'}\n",
			want: []authorizationv1.SubjectAccessReviewSpec{
				{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "one", Verb: "get", Resource: "pods"}},
				{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "two", Verb: "get", Resource: "pods"}},
			},
		},
		"Static": {
			reason: "the configuration allows it without asking", path: "/metrics",
			config: "authorization:\n  static:\n  - {user: {name: '" + prometheus + "'}, verb: get, path: /metrics}\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var o options
			if tc.config != "" {
				o.configFile = filepath.Join(t.TempDir(), "config.yaml")
				if err := os.WriteFile(o.configFile, []byte(tc.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			server := &apiServer{allowed: everything}
			if code, _ := ask(t, &o, server.client(t), tc.path, token); code != http.StatusOK {
				t.Errorf("code %d", code)
			}
			for i := range server.reviews {
				if server.reviews[i].User != prometheus {
					t.Errorf("asked about %s", server.reviews[i].User)
				}
				server.reviews[i].User, server.reviews[i].Groups, server.reviews[i].Extra = "", nil, nil
			}
			if diff := cmp.Diff(tc.want, server.reviews); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	o := options{headers: true, userHeader: "x-remote-user", groupsHeader: "x-remote-groups", groupSeparator: "|"}
	_, seen := ask(t, &o, (&apiServer{allowed: metricsOnly}).client(t), "/metrics", token)
	if seen.Get("x-remote-user") != prometheus || !strings.HasPrefix(seen.Get("x-remote-groups"), "a|b") {
		t.Errorf("the upstream saw %v", seen)
	}
}
