package main

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/spf13/pflag"
)

type options struct {
	configFile, kubeconfig        string
	insecureAddress, address      string
	healthPort                    int
	upstream, upstreamCA          string
	upstreamH2C                   bool
	upstreamCert, upstreamKey     string
	allowPaths, ignorePaths       []string
	qps                           float32
	burst                         int
	certFile, keyFile             string
	minVersion                    string
	cipherSuites                  []string
	reloadInterval                time.Duration
	clientCA                      string
	headers                       bool
	userHeader, groupsHeader      string
	groupSeparator                string
	audiences                     []string
	oidcIssuer                    string
	withoutHTTP2                  bool
	http2MaxStreams, http2MaxSize uint32
}

func (o *options) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.insecureAddress, "insecure-listen-address", "", "[DEPRECATED] address to serve HTTP on")
	flags.StringVar(&o.address, "secure-listen-address", "", "address to serve HTTPS on")
	flags.StringVar(&o.upstream, "upstream", "", "URL to pass allowed requests on to")
	flags.BoolVar(&o.upstreamH2C, "upstream-force-h2c", false, "speak HTTP/2 without TLS to the upstream")
	flags.StringVar(&o.upstreamCA, "upstream-ca-file", "", "CA of the upstream")
	flags.StringVar(&o.configFile, "config-file", "", "what to ask for instead of the request's path")
	flags.StringSliceVar(&o.allowPaths, "allow-paths", nil, "patterns of the only paths that exist")
	flags.StringSliceVar(&o.ignorePaths, "ignore-paths", nil, "patterns of paths that everybody may read")
	flags.IntVar(&o.healthPort, "proxy-endpoints-port", 0, "port of /healthz, by HTTPS")

	flags.StringVar(&o.certFile, "tls-cert-file", "", "certificate")
	flags.StringVar(&o.keyFile, "tls-private-key-file", "", "key of the certificate")
	flags.StringVar(&o.minVersion, "tls-min-version", "VersionTLS12", "lowest TLS version")
	flags.StringSliceVar(&o.cipherSuites, "tls-cipher-suites", nil, "cipher suites")
	flags.DurationVar(&o.reloadInterval, "tls-reload-interval", time.Minute, "[DEPRECATED] how often to look at the certificate's files")
	flags.StringVar(&o.upstreamCert, "upstream-client-cert-file", "", "certificate for the upstream")
	flags.StringVar(&o.upstreamKey, "upstream-client-key-file", "", "key for the upstream")

	flags.StringVar(&o.clientCA, "client-ca-file", "", "CA of client certificates")
	flags.BoolVar(&o.headers, "auth-header-fields-enabled", false, "tell the upstream who asks")
	flags.StringVar(&o.userHeader, "auth-header-user-field-name", "x-remote-user", "header of the user's name")
	flags.StringVar(&o.groupsHeader, "auth-header-groups-field-name", "x-remote-groups", "header of the user's groups")
	flags.StringVar(&o.groupSeparator, "auth-header-groups-field-separator", "|", "what stands between groups")
	flags.StringSliceVar(&o.audiences, "auth-token-audiences", []string{}, "audiences of tokens")
	o.addOIDC(flags)

	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig; default: the pod's ServiceAccount")
	flags.Float32Var(&o.qps, "kube-api-qps", 0, "queries per second")
	flags.IntVar(&o.burst, "kube-api-burst", 0, "queries at once")
	flags.BoolVar(&o.withoutHTTP2, "http2-disable", false, "no HTTP/2")
	flags.Uint32Var(&o.http2MaxStreams, "http2-max-concurrent-streams", 100, "streams of one connection")
	flags.Uint32Var(&o.http2MaxSize, "http2-max-size", 256*1024, "size of a frame and of a stream's buffer")
	addDisabled(flags)
}

func (o *options) addOIDC(flags *pflag.FlagSet) {
	flags.StringVar(&o.oidcIssuer, "oidc-issuer", "", "URL of the OpenID issuer")
	flags.String("oidc-clientID", "", "client ID")
	flags.String("oidc-groups-claim", "groups", "claim of the groups")
	flags.String("oidc-username-claim", "email", "claim of the user")
	flags.String("oidc-username-prefix", "", "prefix of users")
	flags.String("oidc-groups-prefix", "", "prefix of groups")
	flags.StringArray("oidc-sign-alg", []string{"RS256"}, "signing algorithms")
	flags.String("oidc-ca-file", "", "CA of the issuer")
}

// addDisabled adds what klog once had: accepted, without effect.
func addDisabled(flags *pflag.FlagSet) {
	for _, name := range []string{"logtostderr", "add-dir-header", "alsologtostderr", "one-output", "skip-headers", "skip-log-headers"} {
		flags.Bool(name, false, "[DISABLED]")
	}
	for _, name := range []string{"log-backtrace-at", "log-dir", "log-file", "stderrthreshold"} {
		flags.String(name, "", "[DISABLED]")
	}
	flags.Uint64("log-file-max-size", 0, "[DISABLED]")
}

func (o *options) validate() error {
	var errs []error
	if len(o.allowPaths) > 0 && len(o.ignorePaths) > 0 {
		errs = append(errs, errors.New("cannot use --allow-paths and --ignore-paths together"))
	}
	for _, pattern := range o.allowPaths {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, fmt.Errorf("failed to verify allow path: %s", pattern))
		}
	}
	for _, pattern := range o.ignorePaths {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, fmt.Errorf("failed to verify ignored path: %s", pattern))
		}
	}
	if o.oidcIssuer != "" {
		errs = append(errs, errors.New("this stand-in knows no OIDC"))
	}
	return errors.Join(errs...)
}
