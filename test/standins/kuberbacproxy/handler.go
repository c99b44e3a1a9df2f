package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// handler asks who sent a request and whether that user may do it, and passes it on.
type handler struct {
	*options
	authn    authenticator.Request
	authz    authorizer.Authorizer
	question question
	upstream http.Handler
}

func newHandler(ctx context.Context, o *options, client kubernetes.Interface) (http.Handler, error) {
	h := &handler{options: o}
	var err error
	if h.upstream, err = newUpstream(o); err != nil {
		return nil, err
	}
	if h.question, err = readQuestion(o.configFile); err != nil {
		return nil, err
	}
	if h.authn, err = newAuthenticator(ctx, o, client); err != nil {
		return nil, fmt.Errorf("failed to instantiate delegating authenticator: %w", err)
	}
	asking, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             5 * time.Minute,
		DenyCacheTTL:              30 * time.Second,
		WebhookRetryBackoff:       serveroptions.DefaultAuthWebhookRetryBackoff(),
	}.New()
	if err != nil {
		return nil, fmt.Errorf("failed to create sar authorizer: %w", err)
	}
	h.authz = union.New(h.question.Static, asking)
	return h, nil
}

func newAuthenticator(ctx context.Context, o *options, client kubernetes.Interface) (authenticator.Request, error) {
	config := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:               &apiserver.AnonymousAuthConfig{Enabled: false},
		CacheTTL:                2 * time.Minute,
		TokenAccessReviewClient: client.AuthenticationV1(),
		APIAudiences:            o.audiences,
		WebhookRetryBackoff:     serveroptions.DefaultAuthWebhookRetryBackoff(),
	}
	if o.clientCA != "" {
		ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", o.clientCA)
		if err != nil {
			return nil, err
		}
		go ca.Run(ctx, 1)
		config.ClientCertificateCAContentProvider = ca
	}
	authn, _, err := config.New()
	return authn, err
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed, err := matches(h.allowPaths, r.URL.Path)
	ignored, ignoreErr := matches(h.ignorePaths, r.URL.Path)
	switch {
	case errors.Join(err, ignoreErr) != nil:
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	case len(h.allowPaths) > 0 && !allowed:
		http.NotFound(w, r)
		return
	case !ignored && !h.admit(w, r):
		return
	}
	h.upstream.ServeHTTP(w, r)
}

func matches(patterns []string, requested string) (bool, error) {
	for _, pattern := range patterns {
		if found, err := path.Match(pattern, requested); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// admit says whether a request may go on; if not, it has been answered.
func (h *handler) admit(w http.ResponseWriter, r *http.Request) bool {
	ctx := r.Context()
	if len(h.audiences) > 0 {
		ctx = authenticator.WithAudiences(ctx, h.audiences)
	}
	response, ok, err := h.authn.AuthenticateRequest(r.WithContext(ctx))
	if err != nil {
		klog.Errorf("Unable to authenticate the request due to an error: %v", err)
	}
	if err != nil || !ok {
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return false
	}
	all := h.question.of(response.User, r)
	if len(all) == 0 {
		http.Error(w, "Bad Request. The request or configuration is malformed.", http.StatusBadRequest)
		return false
	}
	for _, attributes := range all {
		if !h.may(ctx, w, attributes) {
			return false
		}
	}
	if h.headers {
		r.Header.Set(h.userHeader, response.User.GetName())
		r.Header.Set(h.groupsHeader, strings.Join(response.User.GetGroups(), h.groupSeparator))
	}
	return true
}

func (h *handler) may(ctx context.Context, w http.ResponseWriter, a authorizer.Attributes) bool {
	decision, reason, err := h.authz.Authorize(ctx, a)
	if err == nil && decision == authorizer.DecisionAllow {
		return true
	}
	what := fmt.Sprintf("(user=%s, verb=%s, resource=%s, subresource=%s)", name(a.GetUser()), a.GetVerb(), a.GetResource(), a.GetSubresource())
	if err != nil {
		klog.Errorf("Authorization error %s: %s", what, err)
		http.Error(w, "Authorization error "+what, http.StatusInternalServerError)
		return false
	}
	klog.V(2).Infof("Forbidden %s. Reason: %q.", what, reason)
	http.Error(w, "Forbidden "+what, http.StatusForbidden)
	return false
}

func name(u user.Info) string {
	if u == nil {
		return ""
	}
	return u.GetName()
}
