package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"text/template"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"
)

// question is what is asked of a request: the member authorization of --config-file.
type question struct {
	Rewrites *struct {
		ByQueryParameter *named `json:"byQueryParameter,omitempty"`
		ByHTTPHeader     *named `json:"byHttpHeader,omitempty"`
	} `json:"rewrites,omitempty"`
	Resource *resource `json:"resourceAttributes,omitempty"`
	Static   static    `json:"static,omitempty"`
}

type named struct {
	Name string `json:"name,omitempty"`
}

type resource struct {
	Namespace   string `json:"namespace,omitempty"`
	APIGroup    string `json:"apiGroup,omitempty"`
	APIVersion  string `json:"apiVersion,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`
}

// static is what is allowed without asking.
type static []struct {
	User struct {
		Name string `json:"name,omitempty"`
	}
	Verb            string `json:"verb,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	APIGroup        string `json:"apiGroup,omitempty"`
	Resource        string `json:"resource,omitempty"`
	Subresource     string `json:"subresource,omitempty"`
	Name            string `json:"name,omitempty"`
	ResourceRequest bool   `json:"resourceRequest,omitempty"`
	Path            string `json:"path,omitempty"`
}

func readQuestion(file string) (question, error) {
	if file == "" {
		return question{}, nil
	}
	klog.Infof("Reading config file: %s", file)
	content, err := os.ReadFile(file)
	if err != nil {
		return question{}, fmt.Errorf("failed to read the config file: %w", err)
	}
	var config struct {
		Authorization question `json:"authorization"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return question{}, fmt.Errorf("failed to read the config file: failed to parse config file content: %w", err)
	}
	for _, s := range config.Authorization.Static {
		if s.ResourceRequest != (s.Path == "") {
			return question{}, fmt.Errorf("failed to create static authorizer: resource requests must not include a path: %v", s)
		}
	}
	return config.Authorization, nil
}

// Authorize allows what every member that is set agrees with.
func (s static) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, allowed := range s {
		same := allowed.ResourceRequest == a.IsResourceRequest()
		for _, pair := range [][2]string{
			{allowed.User.Name, name(a.GetUser())}, {allowed.Verb, a.GetVerb()}, {allowed.Namespace, a.GetNamespace()},
			{allowed.APIGroup, a.GetAPIGroup()}, {allowed.Resource, a.GetResource()}, {allowed.Subresource, a.GetSubresource()},
			{allowed.Name, a.GetName()}, {allowed.Path, a.GetPath()},
		} {
			same = same && (pair[0] == "" || pair[0] == pair[1])
		}
		if same {
			return authorizer.DecisionAllow, "found corresponding static auth config", nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}

var verbs = map[string]string{
	http.MethodPost: "create", http.MethodGet: "get", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// of lists what the user must all be allowed to.
func (q question) of(u user.Info, r *http.Request) []authorizer.Attributes {
	verb, known := verbs[r.Method]
	if !known {
		verb = "*"
	}
	if q.Resource == nil {
		return []authorizer.Attributes{authorizer.AttributesRecord{User: u, Verb: verb, Path: r.URL.Path}}
	}
	if q.Rewrites == nil {
		return []authorizer.Attributes{q.Resource.attributes(u, verb, func(s string) string { return s })}
	}
	var values []string
	if by := q.Rewrites.ByQueryParameter; by != nil && by.Name != "" {
		values = append(values, r.URL.Query()[by.Name]...)
	}
	if by := q.Rewrites.ByHTTPHeader; by != nil && by.Name != "" {
		values = append(values, r.Header.Values(by.Name)...)
	}
	var out []authorizer.Attributes
	for _, value := range values {
		out = append(out, q.Resource.attributes(u, verb, func(s string) string { return filled(s, value) }))
	}
	return out
}

func (r resource) attributes(u user.Info, verb string, fill func(string) string) authorizer.Attributes {
	return authorizer.AttributesRecord{
		User: u, Verb: verb, ResourceRequest: true,
		Namespace: fill(r.Namespace), APIGroup: fill(r.APIGroup), APIVersion: fill(r.APIVersion),
		Resource: fill(r.Resource), Subresource: fill(r.Subresource), Name: fill(r.Name),
	}
}

func filled(text, value string) string {
	t, err := template.New("").Parse(text)
	if err != nil {
		return ""
	}
	var out strings.Builder
	if err := t.Execute(&out, struct{ Value string }{value}); err != nil {
		return ""
	}
	return out.String()
}
