package noise

import (
	"encoding/binary"
	"math/big"
)

// The functions of this file compute one normal of Normals with more bits. They
// are slow, allocate, and are needed once in ten million numbers.

// A release from a uniform number of 192 bits differs from that of a real one in the same
// interval with probability below 2^-160. Where 2^-j-1 <= u < 2^-j, a normal errs by e = 2^(j-191)
// at most; the pair of normals is in that ring with density e^(-r²/2)/2π < 2^-j/6, and has a
// member within e of one of the r·2^13 middles between multiples on an area below e·r²·2^15. With
// r < 17 this adds up to less than 192·2^(15+9-191)/6; near u = 1, where 1/r is large, rings shrink as
// fast as e grows. The interval at 0 has 2^-192.

// precision in bits: far above that of the inputs, so that no rounding here shows
const precision = 320

// exactBlock is the first block, within a step, of the words that lengthen those of a pair:
// two blocks per pair.
const exactBlock = 1 << 62

// exactNormal returns r cos a (or r sin a) of the pair of words as Normals
// defines it, but for uniform numbers of 192 bits. The words are their first 64 bits; both
// members of a pair see the same further bits.
func (s *Stream) exactNormal(pair, radius, angle uint64, sine bool) *big.Float {
	more := make([]byte, 2*blockSize)
	s.aes.keystream(more, s.step, exactBlock+2*pair)
	return normalOf(uniform(radius, more[:16]), uniform(angle, more[16:]), sine)
}

// ExactNormals sets dst to independent numbers, each the float64 nearest to one that is normal
// to 190 bits, and at most 16.4 in size.
func (s *Stream) ExactNormals(dst []float64) {
	var words [normalGroup]float64
	for i := range dst {
		place := s.place()
		bytes := bytesOf(words[:])
		s.Fill(bytes)
		z := s.exactNormal(place, binary.LittleEndian.Uint64(bytes), binary.LittleEndian.Uint64(bytes[8*normalGroup/2:]), false)
		dst[i], _ = z.Float64()
	}
}

// uniform returns (word + more/2^128 + 2^-129)/2^64, in (0, 1).
func uniform(word uint64, more []byte) *big.Float {
	var digits [8 * 4]byte
	binary.BigEndian.PutUint64(digits[:], word)
	copy(digits[8:], more)
	digits[24] = 0x80
	u := number(0).SetInt(new(big.Int).SetBytes(digits[:]))
	return u.SetMantExp(u, -256)
}

// normalOf returns sqrt(-2 log u) times the cosine or sine of a turns.
func normalOf(u, a *big.Float, sine bool) *big.Float {
	r := logarithm(u)
	r.Mul(r, number(-2)).Sqrt(r)
	return r.Mul(r, cosineTurn(a, sine))
}

// nearestExactly returns the whole number nearest to (x + sigma·z)/spacing.
func nearestExactly(x, sigma, spacing float64, z *big.Float) float64 {
	t := number(sigma)
	t.Mul(t, z).Add(t, number(x)).Quo(t, number(spacing)).Add(t, number(0.5))
	whole, _ := t.Int(nil) // towards zero
	if t.Sign() < 0 && !t.IsInt() {
		whole.Sub(whole, big.NewInt(1))
	}
	nearest, _ := new(big.Float).SetInt(whole).Float64()
	return nearest
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// logarithm returns log u = e log 2 + 2 artanh((m-1)/(m+1)), u = m 2^e with m
// in [3/4, 3/2).
func logarithm(u *big.Float) *big.Float {
	m := number(0)
	e := u.MantExp(m) // m in [1/2, 1)
	if m.Cmp(number(0.75)) < 0 {
		m.Mul(m, number(2))
		e--
	}
	down := number(0).Sub(m, number(1))
	up := number(0).Add(m, number(1))
	log2 := artanh(number(0).Quo(number(1), number(3))) // half of log 2
	sum := artanh(down.Quo(down, up))
	sum.Add(sum, log2.Mul(log2, number(float64(e))))
	return sum.Mul(sum, number(2))
}

// artanh returns x + x³/3 + x⁵/5 + ... for |x| <= 1/3, where a hundred terms
// reach 2^-319.
func artanh(x *big.Float) *big.Float {
	square := number(0).Mul(x, x)
	power := number(0).Set(x)
	sum := number(0).Set(x)
	for k := 3.0; k < 210; k += 2 {
		power.Mul(power, square)
		sum.Add(sum, number(0).Quo(power, number(k)))
	}
	return sum
}

// pi, from mpmath; 100 digits are 332 bits.
const pi = "3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117068"

// cosineTurn returns cos(2πa), or sin(2πa), for 0 <= a < 1: after taking off
// the nearest quarter turn, by the series of the exponential of an imaginary
// number of size at most π/4.
func cosineTurn(a *big.Float, sine bool) *big.Float {
	nearest, _ := number(0).Add(number(0).Mul(a, number(4)), number(0.5)).Int64()
	quarter := int(nearest)
	y, _, err := big.ParseFloat(pi, 10, precision, big.ToNearestEven)
	if err != nil {
		panic("noise: " + err.Error())
	}
	rest := number(0).Sub(a, number(float64(quarter)/4))
	y.Mul(y, rest.Mul(rest, number(2)))

	// (i y)^k / k!: even terms make the cosine, odd ones the sine.
	parts := [2]*big.Float{number(1), number(0)}
	term := number(1)
	for k := 1; k < 80; k++ {
		term.Quo(term.Mul(term, y), number(float64(k)))
		if k%4 < 2 {
			parts[k%2].Add(parts[k%2], term)
		} else {
			parts[k%2].Sub(parts[k%2], term)
		}
	}
	// cos(y + qπ/2) and sin(y + qπ/2) = cos(y + (q-1)π/2).
	if sine {
		quarter += 3
	}
	result := parts[quarter%2]
	if q := quarter % 4; q == 1 || q == 2 {
		result.Neg(result)
	}
	return result
}
