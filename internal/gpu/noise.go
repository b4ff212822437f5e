package gpu

import (
	"cmp"
	"unsafe"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// normalGroup is how many normals package noise makes of as many words.
const normalGroup = 16

// The device makes random words from these keys, which are on it during a call.
const (
	sumKey = iota // of the sum's noise
	batchKey
	recordKey // of the noise of records
	keyCount
	keyBytes = 4 * 60 // of the round keys, which begin with the key
)

// setKey sends a stream's key and returns its address.
func (w *worker) setKey(which int, s *noise.Stream) (address, error) {
	w.keyed = true
	key, at := s.Key(), w.keys+address(keyBytes*which)
	err := w.sendKeys(at, copy(w.keysSent[:], key[:]))
	clear(key[:])
	clear(w.keysSent[:])
	return at, err
}

// setRecordKey sends the key of the noise of records, if they have any.
func (w *worker) setRecordKey(s *noise.Stream) (err error) {
	if w.p.tape.AuxRecord > 0 {
		w.args.noiseKeys, err = w.setKey(recordKey, s)
	}
	return err
}

// forgetKeys overwrites the keys and their round keys on the device.
func (w *worker) forgetKeys() error {
	if !w.keyed {
		return nil
	}
	w.keyed = false
	return w.sendKeys(w.keys, len(w.keysSent))
}

// sendKeys copies the first bytes of keysSent.
func (w *worker) sendKeys(to address, bytes int) error {
	d := w.engine.driver
	return cmp.Or(d.upload(to, unsafe.Pointer(&w.keysSent[0]), int64(bytes)), d.wait())
}

// wordsPerStep is how many random words the noise of a step takes: of the sum,
// unless it is long, and of the count.
func (w *worker) wordsPerStep(in privacy.StepsInput) (sum, count int) {
	if P := w.p.tape.P; P <= w.engine.mostWords {
		sum = (P + normalGroup - 1) / normalGroup * normalGroup
	}
	if in.CountNoise != 0 {
		count = normalGroup
	}
	return sum, count
}

// fillWords makes the random words of the noise of some steps.
func (w *worker) fillWords(f *stepInputs, in privacy.StepsInput, s *streams, low, high int) {
	sum, count := w.wordsPerStep(in)
	for k := low; k < high; k++ {
		words, step := f.words.in(&f.stagingBuffer)[k*(sum+count):][:sum+count], uint64(in.First+f.first+k)
		if sum > 0 {
			s.sum.Seek(step)
			s.sum.Words64(words[:sum])
		}
		if count > 0 {
			s.count.Seek(step)
			s.count.Words64(words[sum:])
		}
	}
}

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
