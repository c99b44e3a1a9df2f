package faults

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Needs are what living volumes rely on.
type Needs struct {
	// Objects by their paths at the API server, as they are while all is well.
	Objects map[string]*unstructured.Unstructured
	// Pools are those with volumes in them.
	Pools []string
	// Users are the cephx users that volumes are mounted as, with their caps.
	Users map[string]map[string]string
}

// Deleted are the writes to the API server that take an object away, if only to make it anew.
func (n Needs) Deleted(writes []string) []string {
	var out []string
	for _, w := range writes {
		path, deletes := strings.CutPrefix(w, "DELETE ")
		for needed := range n.Objects {
			if deletes && (path == needed || strings.HasPrefix(needed, path+"/")) {
				out = append(out, w)
			}
		}
	}
	return out
}

// Emptied are sentences on what a version of an object at that path lacks.
func (n Needs) Emptied(path string, version *unstructured.Unstructured) []string {
	needed := n.Objects[path]
	if needed == nil {
		return nil
	}
	return lacks(path, content(needed), content(version))
}

// content is what others read in an object. Whoever reads a Secret's or ConfigMap's JSON looks into it.
func content(object *unstructured.Unstructured) map[string]any {
	out := maps.Clone(object.Object)
	for _, field := range []string{"metadata", "status", "apiVersion", "kind"} {
		delete(out, field)
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	texts := map[string]any{}
	for key, value := range data {
		if object.GetKind() == "Secret" {
			text, _ := base64.StdEncoding.DecodeString(value)
			value = string(text)
		}
		texts[key] = value
		var entries []struct {
			ClusterID string   `json:"clusterID"`
			Monitors  []string `json:"monitors"`
		}
		if json.Unmarshal([]byte(value), &entries) == nil {
			clusters := map[string]any{}
			for _, e := range entries {
				clusters[e.ClusterID] = strings.Join(e.Monitors, ",")
			}
			texts[key] = clusters
		}
	}
	if data != nil {
		out["data"] = texts
	}
	return out
}

// lacks compares what there is with what there was: a value may be another one, but not none, and of a list each item stays.
func lacks(where string, was, is any) []string {
	switch was := was.(type) {
	case map[string]any:
		members, _ := is.(map[string]any)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(was)) {
			out = append(out, lacks(where+" "+key, was[key], members[key])...)
		}
		return out
	case []any:
		items, _ := is.([]any)
		for _, one := range was {
			if !slices.ContainsFunc(items, func(other any) bool { return reflect.DeepEqual(one, other) }) {
				return []string{fmt.Sprintf("%s lacks %v", where, one)}
			}
		}
		return nil
	}
	if is == nil || is == "" && was != "" {
		return []string{where + " is gone"}
	}
	return nil
}

// Taken are the commands to Ceph that take something from volumes, if only for a moment.
func (n Needs) Taken(calls []string) []string {
	var out []string
	for _, call := range calls {
		var command struct {
			Prefix, Pool, Var, Val, Entity string
			Caps                           []string
		}
		if json.Unmarshal([]byte(call), &command) != nil {
			continue // It is no command, but about an object or an image.
		}
		takes := false
		switch used := slices.Contains(n.Pools, command.Pool); command.Prefix {
		case "osd pool rm", "osd pool delete", "osd pool rename", "osd pool application rm", "osd pool application disable":
			takes = used
		case "osd pool set":
			takes = used && command.Var == "nodelete" && slices.Contains([]string{"false", "0"}, command.Val)
		case "auth rm", "auth del":
			takes = n.Users[command.Entity] != nil
		case "auth caps":
			takes = narrower(n.Users[command.Entity], command.Caps)
		case "fs rm", "fs volume rm", "fs rm_data_pool", "fs subvolumegroup rm", "fs subvolume rm":
			takes = true
		}
		if takes {
			out = append(out, call)
		}
	}
	return out
}

// narrower says whether caps, in pairs of daemon and right, leave out a part of what was.
func narrower(was map[string]string, caps []string) bool {
	is := map[string][]string{}
	for pair := range slices.Chunk(caps, 2) {
		is[pair[0]] = parts(pair[len(pair)-1])
	}
	for daemon, rights := range was {
		for _, right := range parts(rights) {
			if !slices.Contains(is[daemon], right) {
				return true
			}
		}
	}
	return false
}

func parts(caps string) []string {
	var out []string
	for part := range strings.SplitSeq(caps, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}
