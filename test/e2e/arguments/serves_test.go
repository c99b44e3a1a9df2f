package arguments

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

func tokenRequest() *authenticationv1.TokenRequest { return &authenticationv1.TokenRequest{} }

// serves waits until the kubelet and Prometheus are answered, with the certificate of a Secret, and
// checks that nobody else is.
func (s *site) serves(t *testing.T, p *operatorprocess.Process, secret string) {
	t.Helper()
	eventually(t, p, func(ctx context.Context) error { return s.answers(ctx, p) })
	s.hasCertificate(t, p.Address(), secret)
}

// eventually waits until the check finds nothing wrong with a program that runs.
func eventually(t *testing.T, p *operatorprocess.Process, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if exited := p.Exited(); exited != nil {
			return false, fmt.Errorf("it has ended: %w", exited)
		}
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatal(errors.Join(err, last))
	}
}

// answers says what is wrong with the program's answers.
func (s *site) answers(ctx context.Context, p *operatorprocess.Process) error {
	for _, question := range []struct {
		path, token string
		code        int
		body        string
	}{
		{"/healthz", "", http.StatusOK, "ok"},
		{"/readyz", "", http.StatusOK, "ok"},
		{"/metrics", s.token, http.StatusOK, "process_start_time_seconds"},
		{"/metrics", "", http.StatusForbidden, ""},
		{"/metrics", "a wrong one", http.StatusUnauthorized, ""},
	} {
		code, body, err := ask(ctx, "https://"+p.Address()+question.path, question.token)
		if err != nil {
			return err
		}
		if code != question.code || !strings.Contains(body, question.body) {
			return fmt.Errorf("%s with token %t: %d, want %d: %.300s", question.path, question.token != "", code, question.code, body)
		}
	}
	return nil
}

func ask(ctx context.Context, url, token string) (int, string, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

// hasCertificate compares what is served with what it should be.
func (s *site) hasCertificate(t *testing.T, address, secret string) {
	t.Helper()
	wanted, err := s.kube.CoreV1().Secrets(driver.Namespace).Get(t.Context(), secret, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(wanted.Data[corev1.TLSCertKey])
	if block == nil {
		t.Fatalf("Secret %s has no certificate", secret)
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !bytes.Equal(conn.ConnectionState().PeerCertificates[0].Raw, block.Bytes) {
		t.Errorf("serves another certificate than that of Secret %s", secret)
	}
}

func (s *site) refusesTLS12(t *testing.T, p *operatorprocess.Process) {
	t.Helper()
	conn, err := tls.Dial("tcp", p.Address(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	if err == nil {
		_ = conn.Close()
		t.Error("TLS 1.2 is served where the profile begins with 1.3")
	}
}
