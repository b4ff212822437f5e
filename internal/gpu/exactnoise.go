package gpu

import (
	"unsafe"

	"d3p/internal/privacy"
)

// addExactNoise adds the noise that double precision does not decide, of step s.done of
// those after the `before` ones of the call: the device left those numbers as they
// are.
func (w *worker) addExactNoise(in privacy.StepsInput, s *status, before int) error {
	r, d, P := &w.stepping.run, w.engine.driver, w.p.tape.P
	sum := r.aux + address(8*r.inputCount)
	step := uint64(in.First + before + int(s.done))
	x := new([normalGroup]float64)
	if err := read(d, unsafe.Pointer(x), r.state+address(8*r.clipNormAt), 8); err != nil {
		return err
	}
	sigma := in.GradientNoise * x[0] * in.Widened
	for _, quarter := range s.quarters[:s.unresolved] {
		if quarter < 0 {
			count := sum + address(8*P)
			if err := read(d, unsafe.Pointer(x), count, 8); err != nil {
				return err
			}
			in.Count.Seek(step)
			in.Count.AddGaussian(x[:1], in.CountNoise*in.Widened)
			if err := d.upload(count, unsafe.Pointer(x), 8); err != nil {
				return err
			}
			continue
		}
		group := int(quarter) / 4
		at, n := sum+address(8*normalGroup*group), min(normalGroup, P-normalGroup*group)
		if err := read(d, unsafe.Pointer(x), at, 8*int64(n)); err != nil {
			return err
		}
		in.Sum.SeekBlock(step, uint64(normalGroup/2*group))
		in.Sum.AddGaussian(x[:n], sigma)
		for _, i := range []int{0, 1, normalGroup / 2, normalGroup/2 + 1} { // the quarter's own
			if i += 2 * (int(quarter) % 4); i < n {
				if err := d.upload(at+address(8*i), unsafe.Pointer(&x[i]), 8); err != nil {
					return err
				}
			}
		}
		if err := d.wait(); err != nil { // x is used again
			return err
		}
	}
	return d.wait()
}

// normalGroup is how many normals package noise makes of as many words.
const normalGroup = 16
