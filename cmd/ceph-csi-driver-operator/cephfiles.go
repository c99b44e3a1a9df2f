package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/check"
)

// cephFlags say how to reach a Ceph cluster: with an administrator's files.
type cephFlags struct{ conf, keyring, user string }

// add declares the flags; keyring is what the keyring has to have.
func (f *cephFlags) add(to *pflag.FlagSet, keyring string) {
	to.StringVar(&f.conf, "ceph-conf", "", "The ceph.conf of the Ceph cluster.")
	to.StringVar(&f.keyring, "keyring", "", keyring)
	to.StringVar(&f.user, "user", "", "Which user of the keyring (default: the only one, or client.admin).")
}

// files reads both files.
func (f *cephFlags) files() (conf, keyring check.File, err error) {
	if conf, err = readFile("--ceph-conf", f.conf); err != nil {
		return conf, keyring, err
	}
	keyring, err = readFile("--keyring", f.keyring)
	return conf, keyring, err
}

// declaration has the files as the data of a Secret; nil where none is given.
func (f *cephFlags) declaration() (map[string][]byte, error) {
	if f.conf == "" && f.keyring == "" && f.user == "" {
		return nil, nil
	}
	conf, keyring, err := f.files()
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{ceph.EntryConf: conf.Content, ceph.EntryKeyring: keyring.Content}
	if f.user != "" {
		data[ceph.EntryUserID] = []byte(strings.TrimPrefix(f.user, "client."))
	}
	return data, nil
}

func readFile(flag, name string) (check.File, error) {
	if name == "" {
		return check.File{}, errors.New(flag + " is missing")
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return check.File{}, fmt.Errorf("%s: %w", flag, err)
	}
	return check.File{Name: name, Content: content}, nil
}
