package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
)

func tlsConfig(ctx context.Context, o *options, ended chan<- error) (*tls.Config, error) {
	config := &tls.Config{ClientAuth: tls.RequestClientCert}
	if o.certFile == "" && o.keyFile == "" {
		pair, err := selfSigned()
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	} else {
		files := &certificate{certFile: o.certFile, keyFile: o.keyFile}
		if err := files.read(); err != nil {
			return nil, fmt.Errorf("failed to initialize certificate reloader: %w", err)
		}
		config.GetCertificate = files.get
		go func() {
			if err := files.watch(ctx, o.reloadInterval); err != nil {
				ended <- err
			}
		}()
	}
	var err error
	if config.MinVersion, err = cliflag.TLSVersion(o.minVersion); err != nil {
		return nil, fmt.Errorf("TLS version invalid: %w", err)
	}
	if config.CipherSuites, err = cliflag.TLSCipherSuites(o.cipherSuites); err != nil {
		return nil, fmt.Errorf("failed to convert TLS cipher suite name to ID: %w", err)
	}
	return config, nil
}

func selfSigned() (tls.Certificate, error) {
	host, err := os.Hostname()
	if err != nil {
		return tls.Certificate{}, err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("failed to generate self signed cert and key: %w", err)
	}
	return tls.X509KeyPair(certificate, key)
}

// certificate is the one in two files. What cannot be read any more ends the program.
type certificate struct {
	certFile, keyFile string

	mu              sync.RWMutex
	pair            *tls.Certificate
	certPEM, keyPEM []byte
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.pair, nil
}

func (c *certificate) watch(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := c.read(); err != nil {
			return fmt.Errorf("reloading failed: %w", err)
		}
	}
}

func (c *certificate) read() error {
	certPEM, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("error loading certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("error loading key: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Equal(certPEM, c.certPEM) && bytes.Equal(keyPEM, c.keyPEM) {
		return nil
	}
	klog.V(4).Info("reloading key ", c.keyFile, " certificate ", c.certFile)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("error parsing certificate: %w", err)
	}
	c.pair, c.certPEM, c.keyPEM = &pair, certPEM, keyPEM
	return nil
}
