package check

import (
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// commandLine: what cannot be run ends with 2 and one line on stderr.
func commandLine() {
	nowhere := filepath.Join("no", "such", "file")
	DescribeTable("refuses", func(ctx SpecContext, want string, arguments func() []string) {
		r := run(ctx, arguments()...)
		Expect(r.code).To(Equal(2))
		Expect(r.stdout).To(BeEmpty())
		Expect(r.stderr).To(HavePrefix("error: "))
		Expect(strings.Count(r.stderr, "\n")).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring(want))
	},
		Entry("no files", "--ceph-conf is missing", func() []string { return nil }),
		Entry("no keyring", "--keyring is missing", func() []string { return admin()[:1] }),
		Entry("a file that is not there", nowhere, func() []string { return []string{"--ceph-conf=" + nowhere, "--keyring=" + nowhere} }),
		Entry("a kubeconfig that is not there", "--kubeconfig", func() []string { return append(admin(), "--kubeconfig="+nowhere) }),
		Entry("nothing to watch", "--kubeconfig is missing", func() []string { return append(admin(), "--watch") }),
		Entry("another form to watch", "--output=json", func() []string { return append(admin(), kubeconfig(), "--watch", "-o", "json") }),
		Entry("half of the files to watch", "--keyring is missing", func() []string { return append(admin()[:1], kubeconfig(), "--watch") }),
		Entry("an unknown driver", "rbd or cephfs, or both", func() []string { return append(admin(), "--driver=nfs") }),
		Entry("an unknown output", "table or json", func() []string { return append(admin(), "-o", "yaml") }),
		Entry("no time", "--timeout", func() []string { return append(admin(), "--timeout=0s") }),
		Entry("an unknown flag", "--pol", func() []string { return append(admin(), "--pol=x") }),
		Entry("a stray argument", "stray", func() []string { return append(admin(), "stray") }),
	)
}
