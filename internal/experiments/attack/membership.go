package attack

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Delta of the attacked claims: a large delta needs the fewest releases.
const Delta = 0.02

// A Method is a private fit under attack by someone who has the settings and all records
// but one.
type Method struct {
	Name  string
	model string
	delta float64
	open  func(m *models.Model, epsilon float64) (method, error)
}

// method makes one release of a fit of a table, as numbers that an attacker computes from
// it. They are normal with one covariance with and without the record, or are the one
// logarithm of the likelihood ratio up to a constant.
type method struct {
	release func(t tables, seed uint64) ([]float64, error)
	ratio   bool
}

// tables hold the records of the same file. All releases share them.
type tables struct {
	table   *privacy.Table
	columns *privacy.Columns
}

// attacked is the attacked record among known ones.
const (
	columns  = "x,y\n"
	attacked = "5,1\n"
)

var known = columns + strings.Repeat("0,0\n0,1\n", 4)

// Refuted is the epsilon that the best test of membership refutes at a claimed epsilon,
// wrong with probability at most `wrong`, from the given number of fits with the record and
// as many without: Jewson, Ghalebikesabi and Holmes 2023, Remark 1. A quarter as many
// further fits of each kind teach the test the two laws.
func (a Method) Refuted(epsilon float64, fits int, wrong float64, seed uint64) (float64, error) {
	m, err := models.Read("attacked.yaml", []byte(a.model), nil)
	if err != nil {
		return 0, err
	}
	method, err := a.open(m, epsilon)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "d3p-attack-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var releases, lessons [2][][]float64 // without and with
	for with, text := range []string{known, known + attacked} {
		path := filepath.Join(dir, fmt.Sprint(with, ".csv"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return 0, err
		}
		file := privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(seed)}
		all, err := many(method, tables{privacy.NewTable(file), privacy.NewColumns(file)}, seed<<32+uint64(with)<<31, fits+fits/4)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", a.Name, err)
		}
		releases[with], lessons[with] = all[:fits], all[fits:]
	}
	score, err := learnt(method, lessons)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", a.Name, err)
	}
	var ratios [2][]float64
	for with, list := range releases {
		for _, x := range list {
			ratios[with] = append(ratios[with], score(x))
		}
	}
	return leaked(ratios[1], ratios[0], epsilon, a.delta, wrong), nil
}

// many makes n releases of a table.
func many(m method, of tables, seed uint64, n int) ([][]float64, error) {
	list, errs := make([][]float64, n), make([]error, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for w := range errs {
		wait.Go(func() {
			for i := w; i < n && errs[w] == nil; i += len(errs) {
				list[i], errs[w] = m.release(of, seed+uint64(i))
			}
		})
	}
	wait.Wait()
	return list, errors.Join(errs...)
}

// learnt is the logarithm of the likelihood ratio, with the record against without it. For
// two normal laws with one covariance S it is (x - (a+b)/2)ᵀS⁻¹(b - a).
func learnt(m method, lessons [2][][]float64) (func(x []float64) float64, error) {
	if m.ratio { // E e^ratio is 1 without the record
		sum := 0.0
		for _, x := range lessons[0] {
			sum += math.Exp(x[0]) / float64(len(lessons[0]))
		}
		return func(x []float64) float64 { return x[0] - math.Log(sum) }, nil
	}
	d := len(lessons[0][0])
	var centers [2]*mat.VecDense
	var covariance mat.SymDense
	centered := mat.NewDense(len(lessons[0])+len(lessons[1]), d, nil)
	row := 0
	for with, list := range lessons {
		centers[with] = mat.NewVecDense(d, nil)
		for _, x := range list {
			centers[with].AddScaledVec(centers[with], 1/float64(len(list)), mat.NewVecDense(d, x))
		}
		for _, x := range list {
			for j := range d {
				centered.Set(row, j, x[j]-centers[with].AtVec(j))
			}
			row++
		}
	}
	stat.CovarianceMatrix(&covariance, centered, nil)
	var apart, direction, middle mat.VecDense
	apart.SubVec(centers[1], centers[0])
	middle.AddVec(centers[1], centers[0])
	middle.ScaleVec(0.5, &middle)
	var factor mat.Cholesky
	if !factor.Factorize(&covariance) {
		return nil, errors.New("the releases have no spread")
	}
	if err := factor.SolveVecTo(&direction, &apart); err != nil {
		return nil, err
	}
	return func(x []float64) float64 {
		var off mat.VecDense
		off.SubVec(mat.NewVecDense(d, x), &middle)
		return mat.Dot(&off, &direction)
	}, nil
}
