// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %START% 10 20"
	cases := map[string]struct {
		stat      string
		wantState string
		wantTicks uint64
		wantErr   bool
	}{
		"a plain name":                      {stat: "7 (etcd) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 10 20", wantState: "S", wantTicks: 4711},
		"a name with spaces and brackets":   {stat: "7 (a ) S 9 (b)) R 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 42 10 20", wantState: "R", wantTicks: 42},
		"a zombie":                          {stat: "7 (x) Z 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5 0 0", wantState: "Z", wantTicks: 5},
		"too few fields":                    {stat: "7 (x) S 1 2 3", wantErr: true},
		"no name":                           {stat: "7 S 1", wantErr: true},
		"a start time that is not a number": {stat: "7 (x) S" + rest, wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state, ticks, err := parseStat(tc.stat)
			if (err != nil) != tc.wantErr {
				t.Fatalf("parseStat() error = %v, want an error: %v", err, tc.wantErr)
			}
			if state != tc.wantState || ticks != tc.wantTicks {
				t.Errorf("parseStat() = %q, %d, want %q, %d", state, ticks, tc.wantState, tc.wantTicks)
			}
		})
	}
}

func TestStartTimeOfAProcessThatIsGone(t *testing.T) {
	_, running, err := startTime(1 << 30)
	if running || err != nil {
		t.Errorf("startTime() = running %v, error %v; want a process that is gone and no error", running, err)
	}
}

func TestAliveBelievesOnlyAFullMatch(t *testing.T) {
	own, err := recordSelf("hash")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		change func(*Record)
		want   bool
	}{
		"the process itself":                    {change: func(*Record) {}, want: true},
		"the same number, started another time": {change: func(r *Record) { r.StartTime++ }},
		"the same number, of an earlier boot":   {change: func(r *Record) { r.BootID = "another" }},
		"no process":                            {change: func(r *Record) { r.PID = 1 << 30 }},
		"the first process of the machine":      {change: func(r *Record) { r.PID = 1 }},
		"an empty record":                       {change: func(r *Record) { *r = Record{} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := own
			tc.change(&rec)
			got, err := rec.Alive()
			if err != nil || got != tc.want {
				t.Errorf("Alive() = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestReadRecordTreatsHalfAFileAsNone(t *testing.T) {
	path := t.TempDir() + "/x.json"
	if err := os.WriteFile(path, []byte(`{"pid": 12`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := readRecord(path); found || err != nil {
		t.Errorf("readRecord() = found %v, error %v; want neither", found, err)
	}
}
