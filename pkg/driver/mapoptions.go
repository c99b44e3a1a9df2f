package driver

import (
	"maps"
	"slices"
	"strings"
)

// JoinMapOptions adds options to others, both in ceph-csi's form "krbd:a,b;nbd:c". Options
// without a client's name are for krbd.
func JoinMapOptions(options, added string) string {
	byClient := map[string][]string{}
	for _, part := range strings.Split(options+";"+added, ";") {
		client, list, named := strings.Cut(part, ":")
		if !named {
			client, list = "krbd", part
		}
		for _, option := range strings.Split(list, ",") {
			if option != "" && !slices.Contains(byClient[client], option) {
				byClient[client] = append(byClient[client], option)
			}
		}
	}
	var out []string
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		out = append(out, client+":"+strings.Join(byClient[client], ","))
	}
	return strings.Join(out, ";")
}
