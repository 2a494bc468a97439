package util

import (
	"cmp"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
)

func sortedByName(nodes []*api.NodeInfo) []*api.NodeInfo {
	slices.SortFunc(nodes, func(a, b *api.NodeInfo) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}
