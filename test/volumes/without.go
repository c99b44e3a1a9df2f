package volumes

import "maps"

// Without are the entries that are not About the words.
func (d Dump) Without(words ...string) Dump {
	out := maps.Clone(d)
	for name := range d.About(words...) {
		delete(out, name)
	}
	return out
}
