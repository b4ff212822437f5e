package noise

// Random gives single draws from a stream, as dist.Rand of the models requires.
type Random struct {
	stream  *Stream
	normals [64]float64
	left    int
}

// NewRandom reads from s.
func NewRandom(s *Stream) *Random { return &Random{stream: s} }

// Normal returns a draw from N(0, 1).
func (r *Random) Normal() float64 {
	if r.left == 0 {
		r.stream.Normals(r.normals[:])
		r.left = len(r.normals)
	}
	r.left--
	return r.normals[r.left]
}

// Uniform returns a draw from [0, 1).
func (r *Random) Uniform() float64 { return r.stream.Float64() }

// Uint64 returns 64 random bits.
func (r *Random) Uint64() uint64 { return r.stream.Uint64() }
