package main

import (
	"slices"
	"strings"

	"headgate/differential/lib"
)

// A verdict is what came of one cluster.
type verdict struct{ lib.Verdict }

// compare asks both.
func compare(c *cluster, h *headgate, tries int) verdict {
	run, err := h.run(c)
	if err != nil {
		return verdict{lib.Verdict{Kind: lib.Broken, Error: err}}
	}
	// Which evicted pods are gone when is not compared: the cycle with evictions is the last one.
	if last := run.evictsIn(); last > 0 && last < c.cycles {
		c = c.clone()
		c.cycles = last
		return compare(c, h, tries)
	}
	v := verdict{lib.Verdict{Ours: run.answer()}}
	v.Ask(tries, 5, func() (lib.Answer, error) { return askVolcano(c, run) })
	return v
}

// signature says in what way the answers differ: which kinds of lines only one of them has in the
// first cycle in which they differ.
func (v *verdict) signature() map[string]bool {
	out := map[string]bool{}
	if v.Error != nil {
		out[strings.SplitN(v.Error.Error(), "\n", 2)[0]] = true
	}
	if len(v.Theirs) == 0 {
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
	note("-", v.Theirs[0], v.Ours)
	note("+", v.Ours, v.Theirs[0])
	return out
}
