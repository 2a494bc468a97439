package proportion

import "math"

// whole is the number of whole units. What floating point takes off one is given back: in Volcano a
// queue that deserves room for three pods may get two.
func whole(v float64) float64 {
	if near := math.Round(v); math.Abs(v-near) <= 1e-9*near {
		return near
	}
	return math.Floor(v)
}

// wholeUnits is for what all queues deserve.
func (pp *proportionPlugin) wholeUnits() {
	for _, attr := range pp.queueOpts {
		d := attr.deserved
		d.MilliCPU, d.Memory = whole(d.MilliCPU), whole(d.Memory)
		for name, v := range d.ScalarResources {
			d.ScalarResources[name] = whole(v)
		}
		pp.updateShare(attr)
	}
}
