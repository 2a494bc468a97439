package main

import (
	"fmt"
	"slices"
	"strings"

	"headgate/differential/lib"
)

// How a comparison can end.
const (
	same      = iota
	unsettled // Volcano answers one way and another, and ours is one of its answers
	different
	unstable // Volcano answers one way and another, and ours is none of them
	broken   // one of them gave no answer
)

// A verdict is what came of one cluster.
type verdict struct {
	kind    int
	ours    lib.Answer
	volcano []lib.Answer // different ones
	error   error
}

// compare asks both. The order in which Volcano walks its maps decides some ties, so it is asked
// again when the answers differ, and more often when it gave several.
func compare(c *cluster, h *headgate, tries int) verdict {
	run, err := h.run(c)
	if err != nil {
		return verdict{kind: broken, error: err}
	}
	// Which evicted pods are gone when is not compared: the cycle with evictions is the last one.
	if last := run.evictsIn(); last > 0 && last < c.cycles {
		c = c.clone()
		c.cycles = last
		return compare(c, h, tries)
	}
	v := verdict{ours: run.answer()}
	for i := 0; i < tries || (len(v.volcano) > 1 && i < 5*tries); i++ {
		k, err := askVolcano(c, run)
		if err != nil {
			return verdict{kind: broken, error: err, ours: v.ours}
		}
		if !slices.ContainsFunc(v.volcano, k.Equals) {
			v.volcano = append(v.volcano, k)
		}
		if k.Equals(v.ours) {
			v.kind = same
			if len(v.volcano) > 1 {
				v.kind = unsettled
			}
			return v
		}
	}
	v.kind = different
	if len(v.volcano) > 1 {
		v.kind = unstable
	}
	return v
}

// difference shows both answers: what only Volcano says with -, what only Headgate says with +.
func (v *verdict) difference() string {
	if v.error != nil {
		return v.error.Error() + "\n"
	}
	out := ""
	for i, k := range v.volcano {
		if len(v.volcano) > 1 {
			out += fmt.Sprintf("against answer %d of Volcano:\n", i+1)
		}
		out += lib.Difference(k, v.ours)
	}
	return out
}

// signature says in what way the answers differ: which kinds of lines only one of them has in the
// first cycle in which they differ.
func (v *verdict) signature() map[string]bool {
	out := map[string]bool{}
	if v.error != nil {
		out[strings.SplitN(v.error.Error(), "\n", 2)[0]] = true
	}
	if len(v.volcano) == 0 {
		return out
	}
	first := ""
	note := func(side string, lines, others lib.Answer) {
		for _, line := range lines {
			words := strings.Fields(line)
			if slices.Contains(others, line) || (first != "" && words[0] > first) {
				continue
			}
			if words[0] != first {
				clear(out)
				first = words[0]
			}
			kind := side + words[1]
			if words[0] == "group" {
				kind = side + "group " + words[2]
			}
			out[kind] = true
		}
	}
	note("-", v.volcano[0], v.ours)
	note("+", v.ours, v.volcano[0])
	return out
}
