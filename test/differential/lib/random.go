package lib

import "math/rand/v2"

// Random is the source of a cluster: all of it comes from the seed.
type Random struct{ *rand.Rand }

func NewRandom(seed uint64) Random {
	return Random{rand.New(rand.NewPCG(seed, 0x6865616467617465))}
}

func (r Random) Chance(p float64) bool { return r.Float64() < p }

func (r Random) Between(low, high int) int { return low + r.IntN(high-low+1) }

func Pick[T any](r Random, of ...T) T { return of[r.IntN(len(of))] }
