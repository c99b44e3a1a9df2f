package inputs

import (
	"bytes"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// declaration is a Secret with the credentials, made from a right one.
type declaration struct {
	what   string
	change func(data map[string][]byte)
	// reason and says are of the complaint; none for a Secret that is as good as the right one.
	reason string
	says   []string
}

// edit changes the text of an entry.
func edit(entry string, change func(string) string) func(map[string][]byte) {
	return func(data map[string][]byte) { data[entry] = []byte(change(string(data[entry]))) }
}

func replaced(entry, from, to string) func(map[string][]byte) {
	return edit(entry, func(text string) string {
		Expect(text).To(ContainSubstring(from))
		return strings.ReplaceAll(text, from, to)
	})
}

func behind(entry, text string) func(map[string][]byte) {
	return edit(entry, func(before string) string { return before + text })
}

func inFront(entry, text string) func(map[string][]byte) {
	return edit(entry, func(before string) string { return text + before })
}

// asFields is the right Secret in its other form, with one entry changed.
func asFields(entry, value string) func(map[string][]byte) {
	return func(data map[string][]byte) {
		key := keyIn(data["keyring"])
		hosts := monHost(data["ceph.conf"])
		clear(data)
		for name, text := range map[string]string{"fsid": env.Cluster.Ceph().FSID(), "monitors": hosts, "userID": "admin", "userKey": key} {
			data[name] = []byte(text)
		}
		if entry != "" {
			data[entry] = []byte(value)
		}
	}
}

func keyIn(keyring []byte) string { return valueOf(keyring, "key") }

func monHost(conf []byte) string { return valueOf(conf, "mon_host") }

func valueOf(file []byte, name string) string {
	for line := range strings.Lines(string(file)) {
		before, after, found := strings.Cut(line, "=")
		if found && strings.ReplaceAll(strings.TrimSpace(before), " ", "_") == name {
			return strings.TrimSpace(after)
		}
	}
	Fail("no " + name)
	return ""
}

const (
	conf, keyring = "ceph.conf", "keyring"
	// unknownKey is well-formed, and no Ceph cluster knows it.
	unknownKey = "AQBq1XhmAAAAABAAVdfVzC5y7m0nkzVUR0mYgA=="
	noKey      = "s3cr3t-that-is-no-key"
	// almost is nearly as much as a Secret holds.
	almost = 1000 * 1000
)

// declarations alternate: after each bad one comes a good one that is written in an unusual way.
func declarations() (bad, good []declaration) {
	right := env.Credentials()
	key, hosts, fsid := keyIn(right[keyring]), monHost(right[conf]), env.Cluster.Ceph().FSID()
	comments := "\n" + strings.Repeat("# "+strings.Repeat("x", 97)+"\n", almost/100)
	good = []declaration{
		{what: "a byte order mark", change: func(data map[string][]byte) { inFront(conf, "\ufeff")(data); inFront(keyring, "\ufeff")(data) }},
		{what: "lines of Windows", change: func(data map[string][]byte) {
			replaced(conf, "\n", "\r\n")(data)
			replaced(keyring, "\n", "\r\n")(data)
		}},
		{what: "comments and blank lines", change: func(data map[string][]byte) {
			inFront(conf, "# a\n; b\n\n\n")(data)
			behind(keyring, "\n# [client.other]\n; key = x\n")(data)
		}},
		{what: "a megabyte of comments", change: behind(conf, comments)},
		{what: "no last newline", change: func(data map[string][]byte) {
			data[conf], data[keyring] = bytes.TrimSpace(data[conf]), bytes.TrimSpace(data[keyring])
		}},
		{what: "sections of others", change: behind(conf, "\n[osd]\nfsid = x\nmon_host = nobody\n[mds.a]\nmon host = nobody\n")},
		{what: "a section twice, of which the last counts", change: inFront(conf, "[global]\nmon_host = nobody.invalid\nfsid = "+fsid+"\n")},
		{what: "names with blanks", change: replaced(conf, "mon_host", "mon  host")},
		{what: "bytes that are no UTF-8 in a comment", change: behind(conf, "\n# \xff\xfe\xfa\n")},
		{what: "other users beside it", change: behind(keyring, "\n[client.aaa]\n\tkey = "+unknownKey+"\n")},
		{what: "caps beside the key", change: behind(keyring, "\n\tcaps mon = \"allow *\"\n\tcaps osd = \"allow *\"\n")},
		{what: "the fsid in capitals", change: replaced(conf, fsid, strings.ToUpper(fsid))},
		{what: "a mon's name", change: replaced(conf, "127.0.0.1", "localhost")},
		{what: "blanks around fields", change: asFields("userKey", "  "+key+"\n")},
		{what: "a user with its type", change: asFields("userID", "client.admin\n")},
		{what: "mons one below the other", change: asFields("monitors", strings.ReplaceAll(hosts, ",v", ",\nv"))},
		{what: "an entry that nobody knows", change: func(data map[string][]byte) { data["README"] = []byte("x") }},
	}
	bad = []declaration{
		{what: "no entry", change: func(data map[string][]byte) { clear(data) }, reason: condition.CredentialsInvalid, says: []string{"none of ceph.conf and keyring"}},
		{what: "UTF-16", change: inFront(conf, "\xff\xfe"), reason: condition.CredentialsInvalid, says: []string{conf, "UTF-8"}},
		{what: "JSON", change: edit(keyring, func(string) string { return `[{"entity":"client.admin","key":"` + key + `"}]` }),
			reason: condition.CredentialsInvalid, says: []string{keyring, "JSON"}},
		{what: "a file that includes another", change: inFront(conf, "include /etc/passwd\n"), reason: condition.CredentialsInvalid, says: []string{conf, "line 1"}},
		{what: "a section without its end", change: inFront(conf, "[global\n"), reason: condition.CredentialsInvalid, says: []string{conf, "line 1"}},
		{what: "no mons", change: replaced(conf, hosts, ""), reason: condition.CredentialsInvalid, says: []string{conf, "mon_host"}},
		{what: "mons of which one has no end", change: replaced(conf, hosts, "[v2:127.0.0.1"), reason: condition.CredentialsInvalid, says: []string{conf}},
		{what: "a port that is none", change: replaced(conf, hosts, "127.0.0.1:99999"), reason: condition.CredentialsInvalid, says: []string{conf, "99999"}},
		{what: "bytes that are no UTF-8 for a mon", change: replaced(conf, hosts, "\xff\xfa"), reason: condition.CredentialsInvalid, says: []string{conf}},
		{what: "an fsid that is none", change: replaced(conf, fsid, "%FSID%"), reason: condition.CredentialsInvalid, says: []string{conf, "%FSID%", "ceph fsid"}},
		{what: "two different users", change: edit(keyring, func(text string) string {
			return strings.ReplaceAll(text, "client.admin", "client.one") + "\n[client.two]\nkey = " + unknownKey + "\n"
		}),
			reason: condition.CredentialsInvalid, says: []string{keyring, "client.one", "client.two", "leave only"}},
		{what: "half a key", change: replaced(keyring, key, key[:20]), reason: condition.CredentialsInvalid, says: []string{keyring}},
		{what: "a password", change: replaced(keyring, key, noKey), reason: condition.CredentialsInvalid, says: []string{keyring, "base64"}},
		{what: "a key of nobody", change: replaced(keyring, key, unknownKey), reason: condition.AccessDenied, says: []string{"client.admin"}},
		{what: "both forms", change: func(data map[string][]byte) { data["userKey"] = []byte(key) }, reason: condition.CredentialsInvalid, says: []string{keyring, "userKey", "both"}},
		{what: "a field without the others", change: func(data map[string][]byte) { clear(data); data["userID"] = []byte("admin") }, reason: condition.CredentialsInvalid, says: []string{"userKey", "missing"}},
		{what: "a user's name with blanks", change: asFields("userID", "ad min"), reason: condition.CredentialsInvalid, says: []string{"userID", "ad min"}},
		{what: "fsids that differ", change: func(data map[string][]byte) { data["fsid"] = []byte("11111111-2222-4333-8444-555555555555") },
			reason: condition.CredentialsInvalid, says: []string{"11111111-2222-4333-8444-555555555555", fsid}},
	}
	return bad, good
}

var _ = Describe("A Secret with the credentials", func() {
	It("is taken as Ceph would, or gets its sentence; what runs goes on", func(ctx SpecContext) {
		env.KeepSecret(noKey, unknownKey)
		before := map[string]map[string]any{}
		for _, d := range driver.All {
			before[d.Name] = standing(ctx, Default, d)
		}
		bad, good := declarations()
		declare := func(one declaration) {
			By(one.what)
			data := env.Credentials()
			one.change(data)
			env.Declare(ctx, data)
		}
		for i, one := range bad {
			declare(one)
			for _, d := range driver.All {
				said := told(ctx, d, condition.ConnectionDegraded, operatorv1.ConditionTrue, append(one.says, driver.CredentialsSecret)...)
				Expect(said.Reason).To(Equal(one.reason), said.Message)
				Expect(standing(ctx, Default, d)).To(Equal(before[d.Name]))
			}
			declare(good[i%len(good)])
			for _, d := range driver.All {
				told(ctx, d, condition.ConnectionDegraded, operatorv1.ConditionFalse)
			}
		}
		Expect(len(good)).To(BeNumerically("<=", len(bad)), "each of them is tried")
		env.Declare(ctx, env.Credentials())
		env.Settle(ctx)
		for _, d := range driver.All {
			Expect(standing(ctx, Default, d)).To(Equal(before[d.Name]))
		}
	})
})
