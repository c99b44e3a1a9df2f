package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func newUpstream(o *options) (http.Handler, error) {
	target, err := url.Parse(o.upstream)
	if err != nil {
		return nil, fmt.Errorf("failed to parse upstream URL: %w", err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.upstreamCA != "" {
		if transport.TLSClientConfig, err = upstreamTLS(o); err != nil {
			return nil, err
		}
	}
	if o.upstreamH2C {
		transport.Protocols = &http.Protocols{}
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	proxy.Transport = transport
	return proxy, nil
}

func upstreamTLS(o *options) (*tls.Config, error) {
	content, err := os.ReadFile(o.upstreamCA)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(content) {
		return nil, errors.New("error parsing upstream CA certificate")
	}
	if o.upstreamCert != "" {
		pair, err := tls.LoadX509KeyPair(o.upstreamCert, o.upstreamKey)
		if err != nil {
			return nil, fmt.Errorf("failed to read upstream client cert/key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
