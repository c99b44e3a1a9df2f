package assets

// mergeKeys are the lists whose items are merged, with the field that tells the items apart:
// as in a strategic merge patch, which would turn the order of the items round.
var mergeKeys = map[string]string{
	"containers":   "name",
	"volumes":      "name",
	"env":          "name",
	"volumeMounts": "mountPath",
	"ports":        "containerPort",
}

// merge puts part into whole. Maps and the lists of mergeKeys are merged, new items come last;
// arguments of containers are added; everything else is replaced.
func merge(whole, part map[string]any) {
	for field, value := range part {
		whole[field] = mergedField(field, whole[field], value)
	}
}

func mergedField(field string, have, value any) any {
	switch value := value.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		merge(object, value)
		return object
	case []any:
		list, _ := have.([]any)
		if field == "args" {
			return append(list, value...)
		}
		if key := mergeKeys[field]; key != "" {
			return mergedItems(key, list, value)
		}
	}
	return value
}

func mergedItems(key string, list, items []any) []any {
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if known := find(key, list, fields[key]); known != nil {
			merge(known, fields)
			continue
		}
		list = append(list, item)
	}
	return list
}

func find(key string, list []any, value any) map[string]any {
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok && fields[key] == value {
			return fields
		}
	}
	return nil
}
