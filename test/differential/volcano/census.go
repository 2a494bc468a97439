package main

import (
	"fmt"
	"sort"
	"strings"
)

// A census counts clusters by what was in them and what was decided in them.
type census map[string]int

func (s *census) count(c *cluster, v *verdict) {
	if *s == nil {
		*s = census{}
	}
	seen := map[string]bool{}
	for _, a := range c.actions {
		seen["action "+a] = true
	}
	for _, t := range c.tiers {
		for _, p := range t {
			seen["plugin "+p.name] = true
		}
	}
	for _, n := range c.nodes {
		seen["images on nodes"] = seen["images on nodes"] || len(n.Status.Images) > 0
	}
	for _, line := range v.Ours {
		words := strings.Fields(line)
		if words[0] == "group" {
			seen["PodGroup that ends "+words[2]] = true
		} else {
			seen["decision "+words[1]] = true
		}
	}
	for what, is := range seen {
		if is {
			(*s)[what]++
		}
	}
}

func (s census) print(total int) {
	var names []string
	for what := range s {
		names = append(names, what)
	}
	sort.Strings(names)
	for _, what := range names {
		fmt.Printf("  %5.1f %% %s\n", 100*float64(s[what])/float64(max(total, 1)), what)
	}
}
