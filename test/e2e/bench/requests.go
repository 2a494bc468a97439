package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The API server itself writes down when pods were asked for and when their Bindings were answered:
// no watch has to keep up, and all schedulers are measured by the same clock. Other writes are counted.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

func auditArgs(dir, policy string) ([]string, error) {
	file := filepath.Join(dir, "bench-audit.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o644); err != nil {
		return nil, err
	}
	return []string{"--audit-policy-file=" + file, "--audit-log-path=" + auditLog(dir),
		"--audit-log-mode=blocking", "--audit-log-maxsize=4096"}, nil
}

func auditLog(dir string) string {
	return filepath.Join(dir, "bench-audit.log")
}

// tail counts Bindings in the log as it grows.
type tail struct {
	f     *os.File
	part  []byte // of a line that is not complete
	bound int
}

func newTail(dir string) (*tail, error) {
	f, err := os.Open(auditLog(dir))
	return &tail{f: f}, err
}

var (
	bindingMark = []byte(`"subresource":"binding"`)
	createdMark = []byte(`"code":201`)
)

// read takes in what was written since.
func (t *tail) read() error {
	buffer := make([]byte, 1<<20)
	for {
		n, err := t.f.Read(buffer)
		if n == 0 || err != nil {
			return nil // the end, for now
		}
		t.part = append(t.part, buffer[:n]...)
		end := bytes.LastIndexByte(t.part, '\n') + 1
		for line := range bytes.Lines(t.part[:end]) {
			if bytes.Contains(line, bindingMark) && bytes.Contains(line, createdMark) {
				t.bound++
			}
		}
		t.part = append(t.part[:0], t.part[end:]...)
	}
}

// podTimes of one pod.
type podTimes struct {
	created time.Time // the request to create it came in
	bound   time.Time // the Binding was answered
}

// history is the part of the log about a namespace's pods, and about all writes.
type history struct {
	pods   map[string]*podTimes
	writes map[string]int // "create pods/binding" and how often, since the begin
	failed map[string]int // those that were refused, with the code
}

func readHistory(dir string, begin time.Time) (*history, error) {
	text, err := os.ReadFile(auditLog(dir))
	if err != nil {
		return nil, err
	}
	h := &history{pods: map[string]*podTimes{}, writes: map[string]int{}, failed: map[string]int{}}
	for line := range bytes.Lines(text) {
		if err := h.add(line, begin); err != nil {
			return nil, fmt.Errorf("%s: %w", auditLog(dir), err)
		}
	}
	return h, nil
}

type auditEvent struct {
	Verb      string
	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	}
	ResponseStatus           struct{ Code int }
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
}

func (h *history) add(line []byte, begin time.Time) error {
	var e auditEvent

	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	what := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	if !e.RequestReceivedTimestamp.Before(begin) {
		if h.writes[e.Verb+" "+what]++; e.ResponseStatus.Code >= 300 {
			h.failed[fmt.Sprintf("%s %s: %d", e.Verb, what, e.ResponseStatus.Code)]++
		}
	}
	if e.ObjectRef.Namespace != space || e.ResponseStatus.Code != 201 || e.Verb != "create" {
		return nil
	}
	name := e.ObjectRef.Name
	if h.pods[name] == nil {
		h.pods[name] = &podTimes{}
	}
	switch what {
	case "pods":
		h.pods[name].created = e.RequestReceivedTimestamp
	case "pods/binding":
		h.pods[name].bound = e.StageTimestamp
	default:
		if *h.pods[name] == (podTimes{}) {
			delete(h.pods, name)
		}
	}
	return nil
}
