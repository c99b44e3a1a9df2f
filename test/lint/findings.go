package lint

// class is a kind of findings, and how many there are in something.
type class[T any] struct {
	name  string
	count func(T) int
}

// Findings are numbers by the names of their classes.
type Findings map[string]int

// Classes are the names of all classes, in the order in which they are shown.
func Classes() []string {
	var out []string
	for _, c := range ofPods {
		out = append(out, c.name)
	}
	for _, c := range ofRights {
		out = append(out, c.name)
	}
	return out
}

// In counts the findings in all manifests of folders.
func In(folders ...string) (Findings, error) {
	manifests, err := read(folders...)
	if err != nil {
		return nil, err
	}
	out := Findings{}
	for _, m := range manifests {
		if len(m.Spec.Template.Spec.Containers) > 0 {
			add(out, ofPods, m.Spec.Template.Spec)
		}
	}
	for _, r := range rightsOf(manifests) {
		add(out, ofRights, r)
	}
	return out, nil
}

func add[T any](f Findings, classes []class[T], found T) {
	for _, c := range classes {
		f[c.name] += c.count(found)
	}
}
