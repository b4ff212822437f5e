package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"d3p/internal/experiments/published"
	"d3p/internal/report/figure"
)

// mnistTask fits a model file of configs/ to MNIST, or to other images of its size, 60 000,
// and judges it on the 10 000 test images.
type mnistTask struct {
	folder  string   // below data/; "" is mnist
	config  string   // name in configs/
	changes []string // pairs of texts of the model file, the old and the new one
	args    []string // of d3p fit
	label   string   // of the privacy
	command string   // of d3p; "" is fit
	score   func(predictions string, labels []byte) (float64, error)
	target  threshold
	fits    int // 0 is 1
}

// The settings of the d3p paper: batches of 128, noise multiplier 1.5, C = 10, Adam at 1e-3, first
// weights from N(0, 0.01²); see autoEncoderPanels.
var (
	mnistPaperTask      = mnistTask{config: "vae-mnist", score: negativeBound}
	mnistNonPrivateTask = mnistTask{config: "vae-mnist", command: "fit-nonprivate", score: negativeBound}
)

// At the same price larger batches, a higher rate, Glorot's initial weights and the mean of
// the last iterates are better. The reference is the same program with batches of 512; the
// bound allows for seeds, about ±1.
var mnistGlorotTask = mnistTask{
	config: "vae-mnist", changes: []string{"    init: {normal: 0.01}\n", ""},
	args: []string{"--batch-size", "1024", "--learning-rate", "0.003", "--averaging", "0.2", "--epsilon", "0.5355"}, label: "0.5355", score: negativeBound,
	target: threshold{Task: "vae", Metric: "test -ELBO", Direction: "<=", Threshold: 173.5, Mean: 173.5},
}

// A narrower network, whose images are dark before training, is better at the same price: fewer
// weights have less noise, and its decoder need not learn that most pixels are black. The
// bound is a goal, not a measurement.
var mnistNarrowTask = mnistTask{
	config: "vae-mnist", changes: append(slices.Clone(mnistGlorotTask.changes), "units: 400", "units: 200", "units: 50", "units: 20", "{z: 50}", "{z: 20}", "logits: decoder(code)", "logits: decoder(code) - 3"),
	args: mnistGlorotTask.args, label: mnistGlorotTask.label, score: negativeBound,
	target: threshold{Task: "vae_narrow", Metric: "test -ELBO", Direction: "<=", Threshold: 165, Mean: 171.26},
}

// The network of the Opacus benchmark at the settings of its file. Its reference
// is the best published for a network of this size: 98.1 % at epsilon 2.93
// (Papernot et al. 2021, arXiv:2007.14191).
var mnistClassifierTask = mnistTask{
	config: "cnn-mnist", label: "3", score: accuracyOfClasses,
	target: threshold{Task: "cnn", Metric: "test accuracy", Direction: ">=", Threshold: 0.97, Mean: 0.981},
}

// A linear classifier on fixed wavelet features, at the settings of its file. Its reference
// is 98.7 % of MNIST and 89.7 % of Fashion-MNIST at epsilon 3 (Tramèr and Boneh 2021,
// arXiv:2011.11660).
var (
	scatteringTask = mnistTask{
		config: "scattering-mnist", label: "2.93", score: accuracyOfClasses, fits: 3,
		target: threshold{Task: "scattering", Metric: "test accuracy", Direction: ">=", Threshold: 0.987, Mean: 0.987},
	}
	scatteringFashionTask = mnistTask{folder: "fashion-mnist", config: scatteringTask.config, label: "2.93", score: accuracyOfClasses, fits: 3}
)

// judge implements experiment.
func (m mnistTask) judge(opt options, _ []threshold, dir string, out *report) error {
	results, err := openResults(opt.results)
	if err != nil {
		return err
	}
	var values []float64
	fits := cmp.Or(opt.runs, m.fits, 1)
	for k := range fits {
		fmt.Fprintf(os.Stderr, "%s: fit %d of %d\n", strings.TrimSpace(m.folder+" "+m.config), k+1, fits)
		metrics, err := results.of(fitKey{strings.TrimSpace(m.folder + " " + m.config), m.label, m.target.Task, k}, func() (map[string]float64, error) {
			v, err := m.measure(opt, k, filepath.Join(dir, fmt.Sprint(k)))
			return map[string]float64{"score": v}, err
		})
		if err != nil {
			return err
		}
		values = append(values, metrics["score"])
	}
	if m.target.Task == "" {
		out.note(m.folder+" "+m.config, m.label, "test accuracy\t"+summary(values))
		return nil
	}
	out.line(m.label, m.target, values)
	return nil
}

// measure is the score of fit number k, made in the folder dir.
func (m mnistTask) measure(opt options, k int, dir string) (float64, error) {
	data := filepath.Join(opt.shared, "data", cmp.Or(m.folder, "mnist"))
	model, err := m.model(dir)
	if err != nil {
		return 0, err
	}
	labels, err := mnistLabels(filepath.Join(data, "t10k-labels-idx1-ubyte.gz"))
	if err != nil {
		return 0, err
	}
	run, predictions := filepath.Join(dir, "run"), filepath.Join(dir, "predictions.csv")
	args := append([]string{cmp.Or(m.command, "fit"), filepath.Join(data, "train-images-idx3-ubyte.gz"), "--model", model, "--out", run,
		"--quiet", "--init-seed", fmt.Sprint(k)}, m.args...)
	if m.command == "" {
		args = append(args, "--accept-risk", "noise-dominates,small-batches")
	}
	if err := command(opt.d3p, args...); err != nil {
		return 0, err
	}
	if err := command(opt.d3p, "predict", run, filepath.Join(data, "t10k-images-idx3-ubyte.gz"), "--draws", "4", "--out", predictions, "--quiet"); err != nil {
		return 0, err
	}
	return m.score(predictions, labels)
}

// model writes the changed model file.
func (m mnistTask) model(dir string) (path string, err error) {
	raw, err := os.ReadFile(filepath.Join("configs", m.config+".yaml"))
	if err != nil {
		return "", err
	}
	text := string(raw)
	for i := 0; i < len(m.changes); i += 2 {
		if !strings.Contains(text, m.changes[i]) {
			return "", fmt.Errorf("%s.yaml does not hold %q any more", m.config, m.changes[i])
		}
		text = strings.ReplaceAll(text, m.changes[i], m.changes[i+1])
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, m.config+".yaml")
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// mnistLabels reads a compressed idx file of labels: 8 bytes of head, then one
// for each image.
func mnistLabels(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(z)
	if err == nil && len(all) < 8 {
		err = errors.New(path + " is too short")
	}
	if err != nil {
		return nil, err
	}
	return all[8:], nil
}

// negativeBound is the mean of −ELBO over the images.
func negativeBound(predictions string, _ []byte) (float64, error) {
	bounds, err := readColumn(predictions, "bound")
	mean, _ := meanSE(bounds)
	return -mean, err
}

// accuracyOfClasses is the share of images with the right class.
func accuracyOfClasses(predictions string, labels []byte) (float64, error) {
	classes, err := readColumn(predictions, "class")
	if err != nil {
		return 0, err
	}
	right := 0.0
	for i, class := range classes {
		if class == float64(labels[i]) {
			right++
		}
	}
	return right / float64(len(classes)), nil
}

// cifar10Task fits a model file of configs/ to the 50 000 images of CIFAR-10, and scores the
// classes of the 10 000 test images. It has no threshold: nobody has published one for this
// network at this price.
type cifar10Task struct{ config string }

const (
	cifar10Batches = "data_batch_*.bin"
	cifar10Test    = "test_batch.bin"
	cifar10Source  = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
)

// judge implements experiment.
func (c cifar10Task) judge(opt options, _ []threshold, dir string, out *report) error {
	data := filepath.Join(opt.shared, "data", "cifar-10")
	if err := cifar10There(data); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	model := filepath.Join("configs", c.config+".yaml")
	var values []float64
	for k := range cmp.Or(opt.runs, 1) {
		run, predictions := filepath.Join(dir, fmt.Sprintf("run-%d", k)), filepath.Join(dir, fmt.Sprintf("predictions-%d.csv", k))
		if err := command(opt.d3p, "fit", filepath.Join(data, cifar10Batches), "--model", model, "--out", run, "--quiet",
			"--init-seed", fmt.Sprint(k), "--accept-risk", "noise-dominates,small-batches"); err != nil {
			return err
		}
		if err := command(opt.d3p, "predict", run, filepath.Join(data, cifar10Test), "--out", predictions, "--quiet"); err != nil {
			return err
		}
		v, err := rightClasses(predictions, filepath.Join(data, cifar10Test))
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	out.note(c.config, "3", "test accuracy\t"+summary(values))
	return nil
}

// cifar10There returns an error that names the source of the files, unless all are there.
func cifar10There(data string) error {
	names := []string{cifar10Test}
	for k := range 5 {
		names = append(names, fmt.Sprintf("data_batch_%d.bin", k+1))
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(data, name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing (unpack the six .bin files of %s there)", filepath.Join(data, name), cifar10Source)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// rightClasses is the share of images whose predicted class is their label, the first byte
// of each image in a file of CIFAR-10.
func rightClasses(predictions, test string) (float64, error) {
	const size = 1 + 3*32*32
	classes := []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
	raw, err := os.ReadFile(test)
	if err != nil {
		return 0, err
	}
	header, rows, err := readCells(predictions)
	if err != nil {
		return 0, err
	}
	at, err := index(header, "class")
	if err != nil {
		return 0, err
	}
	if len(raw) != size*len(rows) {
		return 0, fmt.Errorf("%s has %d predictions for %d images", predictions, len(rows), len(raw)/size)
	}
	right := 0.0
	for i, row := range rows {
		right += indicator(row[at[0]] == classes[raw[i*size]%10])
	}
	return right / float64(len(rows)), nil
}

// stepPanels are the times of a step against the number of records in a batch: of the
// auto-encoder of MNIST (Prediger et al. 2022, figure 3) and of the hierarchical logistic regression.
func stepPanels(shared string) ([]panel, error) {
	folder := filepath.Join(shared, "data", "mnist")
	if _, err := os.Stat(folder); err != nil {
		return nil, err
	}
	images := filepath.Join(folder, "train-images-idx3-ubyte.gz")
	encoder := panel{title: "Auto-encoder of MNIST", x: "images in a batch", y: "milliseconds of a processor a step", log: true}
	batches := []float64{32, 64, 128, 256, 512, 1024}
	for _, private := range []bool{true, false} {
		s, err := published.StepTimes(private)
		if err != nil {
			return nil, err
		}
		encoder.published = append(encoder.published, s)
		name, command := "d3p, private, one thread", []string{"fit", "--noise-multiplier", "1.5", "--accept-risk", "noise-dominates,small-batches"}
		if !private {
			name, command = "d3p, not private, one thread", []string{"fit-nonprivate"}
		}
		encoder.curves = append(encoder.curves, curve{name, batches, func(opt options, batch float64, _ int, dir string) (float64, error) {
			fewer := 20
			seconds, err := secondsOfStep(opt, dir, fewer, fewer+int(20_000/batch), append(slices.Clone(command), "--batch-size", fmt.Sprint(batch), "--model", filepath.Join("configs", "vae-mnist.yaml"), images)...)
			return 1e3 * seconds, err
		}})
	}
	t := hlrTask{1000}.task()
	load := sync.OnceValues(func() ([]replicate, error) { return t.load(shared) })
	regression := func(opt options, batch float64, k int, dir string) (float64, error) {
		replicates, err := load()
		if err != nil {
			return 0, err
		}
		r := replicates[k%len(replicates)]
		if err := r.write(dir); err != nil {
			return 0, err
		}
		seconds, err := secondsOfStep(opt, dir, 2000, 52000, "fit", "--epsilon", "1", "--table1", "none", "--noise-aware", "none", "--sampling-rate", fmt.Sprint(batch/float64(len(r.train.rows))),
			"--draws", "2", "--formats", "csv", "--model", filepath.Join(dir, "model.yaml"), filepath.Join(dir, "train.csv"))
		return 1e6 * seconds, err
	}
	return []panel{encoder, {title: "Hierarchical logistic regression, N = 1000", x: "records in a batch", y: "microseconds of a processor a step", log: true,
		curves: []curve{{"d3p on one thread", []float64{10, 30, 100, 300, 1000}, regression}}}}, nil
}

// secondsOfStep is the processor time of a step on one thread: the difference of two fits with
// other numbers of steps, so that reading and writing are not in it.
func secondsOfStep(opt options, dir string, fewer, more int, args ...string) (float64, error) {
	var seconds [2]float64
	for i, steps := range []int{fewer, more} {
		fit := exec.Command(opt.d3p, append(args, "--steps", fmt.Sprint(steps), "--threads", "1", "--quiet", "--out", filepath.Join(dir, fmt.Sprint("run", steps)))...)
		if text, err := fit.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, text)
		}
		seconds[i] = fit.ProcessState.UserTime().Seconds()
	}
	return (seconds[1] - seconds[0]) / float64(more-fewer), nil
}

// autoEncoderPanels are the bounds of auto-encoders by the settings of the d3p paper (Prediger et
// al. 2022, tables 2 and 3), and by ours at the same price. The published bounds of
// Fashion-MNIST are for pixels as shares of white, which no Bernoulli distribution has.
func autoEncoderPanels(shared string) (list []panel, err error) {
	bounds := func(t mnistTask, folder string, args ...string) func(options, float64, int, string) (float64, error) {
		t.folder = folder
		return func(opt options, epochs float64, k int, dir string) (float64, error) {
			t := t
			t.args = append([]string{"--epochs", fmt.Sprint(epochs)}, args...)
			return t.measure(opt, k, dir)
		}
	}
	paper, epochs := []string{"--epsilon", "0.5356", "--noise-multiplier", "1.5"}, []float64{1, 20}
	of := func(folder string) curve {
		return curve{"d3p, settings of the paper", epochs, bounds(mnistPaperTask, folder, paper...)}
	}
	ours := func(folder string) []curve {
		return []curve{
			{"d3p, batches of 1024, higher rate", epochs[1:], bounds(mnistGlorotTask, folder, mnistGlorotTask.args...)},
			{"d3p, the same, half as wide", epochs[1:], bounds(mnistNarrowTask, folder, mnistNarrowTask.args...)},
		}
	}
	const mnist, fashion = "mnist", "fashion-mnist"
	withoutPrivacy := curve{of(mnist).name, epochs, bounds(mnistNonPrivateTask, mnist, "--schedule", "constant")}
	for _, p := range []struct {
		title, folder string
		private       bool
		fits          int
		curves        []curve
	}{
		{"MNIST at epsilon 0.536", mnist, true, 20, []curve{of(mnist)}},
		{"MNIST at epsilon 0.536, other settings", mnist, true, 3, ours(mnist)},
		{"MNIST without privacy", mnist, false, 3, []curve{withoutPrivacy}},
		{"Fashion-MNIST, binary, at epsilon 0.536", fashion, true, 3, append(ours(fashion), of(fashion))},
	} {
		if _, err := os.Stat(filepath.Join(shared, "data", p.folder)); err != nil {
			return nil, err
		}
		var series []figure.Series
		for _, program := range []string{published.Python, published.TensorFlow} {
			s, err := published.Bounds(p.folder, program, p.private)
			if err != nil {
				return nil, err
			}
			series = append(series, s)
		}
		list = append(list, panel{title: p.title, x: "epochs", y: "-ELBO of a test image", curves: p.curves, published: series, fits: p.fits})
	}
	return list, nil
}
