package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
)

// truth holds the coefficients of the simulated cohort on the scales of cohort.yaml: log
// odds of death within 30 days.
type truth struct {
	Intercept     float64            `json:"Intercept"`
	Age           float64            `json:"age"` // per 20 years above 60
	BMI           float64            `json:"bmi"` // per 5 above 27
	Comorbidities float64            `json:"comorbidities"`
	Male          float64            `json:"sex[male]"`
	Smoker        map[string]float64 `json:"smoker"` // relative to never
	Emergency     float64            `json:"emergency"`
	HospitalSD    float64            `json:"sd_hospital"` // sd of the hospitals' intercepts
	Hospital      []float64          `json:"hospital"`    // H01, H02, ...: drawn with that sd
	MissingBMI    float64            `json:"missing_bmi"` // probability, at random
	MissingSmoker float64            `json:"missing_smoker"`
}

var cohortTruth = truth{
	Intercept: -1.9, Age: 0.9, BMI: 0.2, Comorbidities: 0.5, Male: 0.3,
	Smoker:    map[string]float64{"former": 0.25, "current": 0.7},
	Emergency: 0.8, HospitalSD: 0.4,
	Hospital:   []float64{0.31, -0.52, 0.08, 0.44, -0.21, -0.05, 0.67, -0.38, 0.17, -0.61, 0.26, -0.16},
	MissingBMI: 0.05, MissingSmoker: 0.02,
}

func (t truth) json() []byte {
	out, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		panic(err) // encoding a struct of numbers cannot fail
	}
	return append(out, '\n')
}

// cohortCSV draws n simulated patients: a table with a real, an integer, binary and
// category columns, missing values, a hospital and a binary outcome.
func cohortCSV(t truth, n int) []byte {
	rng := rand.New(rand.NewPCG(2026, 11))
	var out bytes.Buffer
	out.WriteString("age,bmi,comorbidities,sex,smoker,emergency,hospital,died30\n")
	for range n {
		age := clamp(63+16*rng.NormFloat64(), 18, 100)
		bmi := clamp(27+5*rng.NormFloat64(), 12, 65)
		comorbidities := poisson(rng, 1.2+max(0, age-50)/40)
		sex := pick(rng, []string{"female", "male"}, []float64{0.52, 0.48})
		smoker := pick(rng, []string{"never", "former", "current"}, []float64{0.5, 0.3, 0.2})
		emergency := pick(rng, []string{"no", "yes"}, []float64{0.7, 0.3})
		hospital := int(float64(len(t.Hospital)) * math.Pow(rng.Float64(), 1.3)) // uneven sizes

		eta := t.Intercept + t.Age*(age-60)/20 + t.BMI*(bmi-27)/5 + t.Comorbidities*float64(comorbidities-2)/2 +
			t.Smoker[smoker] + t.Hospital[hospital]
		if sex == "male" {
			eta += t.Male
		}
		if emergency == "yes" {
			eta += t.Emergency
		}
		died := 0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			died = 1
		}

		cell := fmt.Sprintf("%.1f", bmi)
		if rng.Float64() < t.MissingBMI {
			cell = ""
		}
		if rng.Float64() < t.MissingSmoker {
			smoker = "NA"
		}
		fmt.Fprintf(&out, "%.1f,%s,%d,%s,%s,%s,H%02d,%d\n",
			age, cell, comorbidities, sex, smoker, emergency, hospital+1, died)
	}
	return out.Bytes()
}

func clamp(x, lower, upper float64) float64 { return min(max(x, lower), upper) }

// pick draws one of words with the given probabilities, which sum to one.
func pick(rng *rand.Rand, words []string, p []float64) string {
	u := rng.Float64()
	for i, pi := range p {
		if u -= pi; u < 0 {
			return words[i]
		}
	}
	return words[len(words)-1]
}

// poisson draws a count with the given mean, at most 12, by inversion.
func poisson(rng *rand.Rand, mean float64) int {
	u, p, k := rng.Float64(), math.Exp(-mean), 0
	for u -= p; u > 0 && k < 12; u -= p {
		k++
		p *= mean / float64(k)
	}
	return k
}
