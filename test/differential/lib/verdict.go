package lib

import (
	"fmt"
	"slices"
)

// A Kind says how a comparison ended.
type Kind int

const (
	Same      Kind = iota
	Unsettled      // the other scheduler answers one way and another, and ours is one of its answers
	Different
	Unstable // it answers one way and another, and ours is none of its answers
	Broken   // one of them gave no answer
)

// A Verdict is what came of one cluster.
type Verdict struct {
	Kind   Kind
	Ours   Answer
	Theirs []Answer // different ones
	Error  error
}

// Ask asks the other scheduler until it answers as Headgate did, at most so many times, and when it
// gave several answers, more times as many: the order in which it walks its maps decides some ties.
func (v *Verdict) Ask(times, more int, ask func() (Answer, error)) {
	for i := 0; i < times || (len(v.Theirs) > 1 && i < more*times); i++ {
		answer, err := ask()
		if err != nil {
			*v = Verdict{Kind: Broken, Error: err, Ours: v.Ours}
			return
		}
		if !slices.ContainsFunc(v.Theirs, answer.Equals) {
			v.Theirs = append(v.Theirs, answer)
		}
		if answer.Equals(v.Ours) {
			v.Kind = Same
			if len(v.Theirs) > 1 {
				v.Kind = Unsettled
			}
			return
		}
	}
	v.Kind = Different
	if len(v.Theirs) > 1 {
		v.Kind = Unstable
	}
}

// Difference shows both answers: what only the other scheduler, of that name, says with -, what only
// Headgate says with +.
func (v *Verdict) Difference(name string) string {
	if v.Error != nil {
		return v.Error.Error() + "\n"
	}
	out := ""
	for i, answer := range v.Theirs {
		if len(v.Theirs) > 1 {
			out += fmt.Sprintf("against answer %d of %s:\n", i+1, name)
		}
		out += Difference(answer, v.Ours)
	}
	return out
}

// A Tally counts what clusters came to.
type Tally struct {
	Total int
	Kinds [Broken + 1]int
}

// Found is the number of clusters of which something is to be reported.
func (t *Tally) Found() int { return t.Kinds[Different] + t.Kinds[Unstable] + t.Kinds[Broken] }

// Print counts the answers beside the scheduler of that name.
func (t *Tally) Print(name string) {
	fmt.Printf("%d clusters: %d answers the same, %d one of several that %s gives, %d different, "+
		"%d different while %s gives several, %d without an answer\n", t.Total, t.Kinds[Same], t.Kinds[Unsettled], name,
		t.Kinds[Different], t.Kinds[Unstable], name, t.Kinds[Broken])
}
