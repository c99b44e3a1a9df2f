package condition

import (
	"fmt"
	"strings"
)

// Names are the first of some names, most of them at the most, and how many more there are, as messages have them.
func Names(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
