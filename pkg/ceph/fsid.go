package ceph

import "regexp"

var fsidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// IsFSID accepts a UUID in lower case, as Ceph prints it.
func IsFSID(text string) bool { return fsidForm.MatchString(text) }
