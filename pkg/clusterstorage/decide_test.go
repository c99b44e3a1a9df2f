package clusterstorage

import "testing"

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		reason string
		facts  facts
		want   verdict
	}{
		"Nothing":            {"a cluster without Ceph gets no pods", facts{managed: true, accepted: true}, leave},
		"Wanted":             {"a Ceph cluster is declared", facts{managed: true, wanted: true, accepted: true}, run},
		"StockCRD":           {"without its ClusterCSIDriver, an operator is of no use", facts{managed: true, wanted: true}, blocked},
		"StockCRDComesBack":  {"drivers keep running on what exists", facts{managed: true, wanted: true, exists: true}, run},
		"SecretDeleted":      {"what runs is looked after", facts{managed: true, exists: true, accepted: true}, run},
		"Unmanaged":          {"Storage/cluster says hands off", facts{wanted: true, exists: true, accepted: true}, leave},
		"OtherGlue":          {"two would fight", facts{managed: true, stoodDown: true, wanted: true, exists: true, accepted: true}, leave},
		"OtherGlueOnStarted": {"it stands down before it starts, too", facts{managed: true, stoodDown: true, wanted: true, accepted: true}, leave},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide(tc.facts); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
