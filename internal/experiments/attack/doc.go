// Package attack attacks the mechanism that d3p runs. Its tests play the membership game:
// two tables that differ in one record, many releases from each, and the best test that
// tells the tables apart. The success of that test bounds epsilon from below, with
// confidence. The bound must not exceed the certified epsilon, and must come near it, which
// shows that an attack on a mechanism with less noise would succeed. Jagielski, Ullman and
// Oprea 2020, arXiv:2006.07709; Nasr et al. 2023, arXiv:2302.07956.
package attack
