package simd

// Coefficients and constants of the functions, highest power first. The
// generator of the assembly reads them from this file, which therefore imports
// nothing; testdata/generate.py computes those in hexadecimal.

const (
	magic  = 0x1.8p52 // adding it rounds to an integer in the low bits
	log2E  = 1.44269504088896340735992468100189214
	ln2Hi  = 6.93147180369123816490e-01
	ln2Lo  = 1.90821492927058770002e-10
	expMax = 709.782712893383973096
	expMin = -708.0
	root2  = 1.41421356237309504880168872420969808

	sqrtHalf = 0x3fe6a09e667f3bcd // bits of sqrt(1/2)
	// rootGuess less half the bits of x are the bits of about 1/√x, to within 3.5 %:
	// Lomont 2003, "Fast inverse square root", for float64.
	rootGuess = 0x5fe6eb50c0000000

	// beyond tanhMax tanh is 1; beyond tailMax Φ(-t) is 0, and log Φ(-t) is -t²/2
	tanhMax = 22.0
	tailMax = 1e9

	stirlingFrom = 8.0                    // range of the series of log Γ
	digammaFrom  = 10.0                   // and of its derivative
	stirling     = 0.41893853320467274178 // log(2π)/2 - 1/2
)

// expCoefficients are 1/13!, 1/12!, ..., 1/1!, 1/0!.
var expCoefficients = [...]float64{
	1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
	1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 1 / 2.0, 1, 1,
}

// logCoefficients are L7 .. L1 of FreeBSD's e_log.c.
var logCoefficients = [...]float64{
	1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
	2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
}

// lgammaSeries are B₂ₖ/(2k(2k-1)), digammaSeries B₂ₖ/(2k), k from 8 or 7 down
// to 1, B the Bernoulli numbers. Abramowitz and Stegun 6.1.40, 6.3.18.
var (
	lgammaSeries = [...]float64{
		-3617 / 122400.0, 1 / 156.0, -691 / 360360.0, 1 / 1188.0, -1 / 1680.0, 1 / 1260.0, -1 / 360.0, 1 / 12.0,
	}
	digammaSeries = [...]float64{
		1 / 12.0, -691 / 32760.0, 1 / 132.0, -1 / 240.0, 1 / 252.0, -1 / 120.0, 1 / 12.0,
	}
)

// millsCoefficients are of (1+t)·exp(t²/2)·Φ(-t) in (t-5)/(t+5), t >= 0. Relative error below 1.1e-17.
var millsCoefficients = [...]float64{
	0x1.b08a0137da0e0p-36,
	-0x1.a2b1652a4cd99p-32,
	-0x1.d875a106045acp-32,
	0x1.2e22b5196cea5p-28,
	0x1.13def7ce39690p-28,
	-0x1.09c75ef5b142bp-25,
	-0x1.cd9e656741669p-26,
	0x1.a5782894d6f75p-23,
	0x1.13d07ad78e56dp-23,
	-0x1.5ef63083ac07ep-20,
	-0x1.2fa6010cca8ecp-24,
	0x1.2fff3a8d9d6bcp-17,
	-0x1.4c0d8eeb681abp-17,
	-0x1.c1b1659a03815p-15,
	0x1.7e61e06f8f381p-13,
	0x1.05714e244de5dp-17,
	-0x1.b75f4f7f8d6c3p-10,
	0x1.ab6d0392b945ap-8,
	-0x1.f11aab030a4e7p-7,
	0x1.92037bab2e753p-6,
	-0x1.b08e0007b4d81p-6,
	0x1.47c1d03056299p-7,
	0x1.fc66cc64a13e5p-6,
	-0x1.76ff86859eb1cp-4,
	0x1.d8979b0f2b39dp-2,
}

// erfCoefficients are of erf(x)/x in x², |x| <= 1. Relative error below 8.5e-18.
var erfCoefficients = [...]float64{
	-0x1.ac9585a44fe29p-31,
	0x1.d76af6ca49787p-27,
	-0x1.5c131500d3f88p-23,
	0x1.b981d78881a5dp-20,
	-0x1.f4ca838adb73bp-17,
	0x1.f9a2be4f731a1p-14,
	-0x1.c02db0665e53dp-11,
	0x1.565bccfa44156p-8,
	-0x1.b82ce31203772p-6,
	0x1.ce2f21a040f66p-4,
	-0x1.812746b0379c1p-2,
	0x1.20dd750429b6dp+0,
}

// lgammaCoefficients are of log Γ(2+z)/z, |z| <= 1/2. Relative error below 3.1e-19.
var lgammaCoefficients = [...]float64{
	0x1.11fa5e7c86f7bp-24,
	-0x1.2009c1a550d0dp-23,
	0x1.b40adb09a1e12p-23,
	-0x1.ce17528bcf460p-22,
	0x1.012012be3900ap-20,
	-0x1.1276ebd557fb0p-19,
	0x1.258f3057730fap-18,
	-0x1.3cb3be36ad88bp-17,
	0x1.580e0afa55850p-16,
	-0x1.78de9ab752b81p-15,
	0x1.a127afee53e7dp-14,
	-0x1.d3fd4b679c1c4p-13,
	0x1.0b36af8779ca0p-11,
	-0x1.38ac5c2d48207p-10,
	0x1.7add6eadb5317p-9,
	-0x1.e404fc218dbaep-8,
	0x1.51322ac7d848ap-6,
	-0x1.13e001a55760ap-4,
	0x1.4a34cc4a60fa6p-2,
	0x1.b0ee6072093cep-2,
}

// risingCoefficients are of x(x+1)···(x+9)/x, whole numbers.
var risingCoefficients = [...]float64{
	0x1.0000000000000p+0,
	0x1.6800000000000p+5,
	0x1.b300000000000p+9,
	0x1.2750000000000p+13,
	0x1.ee52000000000p+15,
	0x1.0703400000000p+18,
	0x1.615c000000000p+19,
	0x1.1e4dc00000000p+20,
	0x1.f542000000000p+19,
	0x1.6260000000000p+18,
}
