// Package attack attacks the mechanism that d3p runs. Its tests play the game of
// membership that differential privacy is about: two tables that differ in one
// record, a hundred thousand releases from each, and the best test there is of
// which table they came from. How often that test is right bounds epsilon from
// below, with confidence; it must not exceed what was certified, and it must come
// near, which shows that an attack on a mechanism with less noise would succeed.
// Jagielski, Ullman and Oprea 2020, arXiv:2006.07709; Nasr et al. 2023,
// arXiv:2302.07956.
package attack
