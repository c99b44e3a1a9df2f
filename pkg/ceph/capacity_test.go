package ceph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCapacities(t *testing.T) {
	got, err := ParseCapacities([]byte(`{"stats":{"total_bytes":100,"total_avail_bytes":80},"stats_by_class":{"hdd":{"total_bytes":100}},
		"pools":[{"name":"a","id":3,"stats":{"stored":30,"objects":2,"kb_used":1,"bytes_used":90,"percent_used":0.1,"max_avail":10}},
		{"name":"b","id":4,"stats":{"stored":0,"objects":0,"kb_used":0,"bytes_used":0,"percent_used":0,"max_avail":0}},
		{"name":"free","id":5,"stats":{"stored":30,"max_avail":10,"quota_objects":1,"quota_bytes":0}},
		{"name":"wide","id":6,"stats":{"stored":30,"max_avail":10,"quota_objects":0,"quota_bytes":1000}},
		{"name":"tight","id":7,"stats":{"stored":30,"max_avail":10,"quota_objects":0,"quota_bytes":36}},
		{"name":"full","id":8,"stats":{"stored":30,"max_avail":10,"quota_objects":0,"quota_bytes":20}}]}`))
	want := []Capacity{
		{PoolID: 3, Pool: "a", Stored: 30, Available: 10}, {PoolID: 4, Pool: "b"}, {PoolID: 5, Pool: "free", Stored: 30, Available: 10},
		{PoolID: 6, Pool: "wide", Stored: 30, Available: 10}, {PoolID: 7, Pool: "tight", Stored: 30, Available: 6}, {PoolID: 8, Pool: "full", Stored: 30},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	if got[0].Used() != 0.75 || got[1].Used() != 0 {
		t.Errorf("used are %v and %v", got[0].Used(), got[1].Used())
	}
	if _, err := ParseCapacities([]byte(`[]`)); err == nil {
		t.Error("a list is accepted")
	}
}
