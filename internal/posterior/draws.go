package posterior

// Normals fills dst with independent draws from N(0, 1).
type Normals interface{ Normals(dst []float64) }

// Draws sets dst (S×P, row-major) to draws from the posterior with the noise
// variance added, on the unconstrained scale; models.Model.Constrain takes a
// draw to the scale of the model file.
func (p *Posterior) Draws(dst []float64, rng Normals) {
	latent := len(p.Mean)
	normals := make([]float64, p.Guide.Noise()+latent)
	eta, extra := normals[:p.Guide.Noise()], normals[p.Guide.Noise():]
	for ; len(dst) >= latent; dst = dst[latent:] {
		rng.Normals(normals)
		theta := dst[:latent]
		p.Guide.Draw(theta, p.Lambda, eta)
		p.addNoise(theta, extra)
	}
}
