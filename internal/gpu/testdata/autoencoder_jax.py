"""A step of DP-VI on the autoencoder of configs/vae-mnist.yaml in JAX, as NumPyro
users write it: gradients by vmap of value_and_grad, each clipped, their sum,
Gaussian noise, Adam. Prints rows of the table of docs/results/gpu.md."""

import time

import jax
import jax.numpy as jnp

N, CLIP, SIGMA, STEPS = 60_000, 10.0, 1.5, 200
SIZES = {"encoder": (784, 400), "loc": (400, 50), "scale": (400, 50), "decoder": (50, 400), "out": (400, 784)}


def loss(params, image, eta):
    def dense(name, x):
        return x @ params[name][0] + params[name][1]

    hidden = jax.nn.softplus(dense("encoder", image))
    loc, log_sd = dense("loc", hidden), dense("scale", hidden)
    code = loc + jnp.exp(log_sd) * eta
    logits = dense("out", jax.nn.softplus(dense("decoder", code)))
    kl = 0.5 * jnp.sum(loc**2 + jnp.exp(2 * log_sd) - 1 - 2 * log_sd)
    return kl - jnp.sum(image * logits - jax.nn.softplus(logits))


def step(images, batch, state, key):
    params, first, second, t = state
    places, etas, noise = jax.random.split(key, 3)
    rows = images[jax.random.randint(places, (batch,), 0, N)]
    _, grads = jax.vmap(jax.value_and_grad(loss), (None, 0, 0))(params, rows, jax.random.normal(etas, (batch, 50)))
    leaves, tree = jax.tree.flatten(grads)
    norm = jnp.sqrt(sum(jnp.sum(g.reshape(batch, -1) ** 2, axis=1) for g in leaves))
    factor = jnp.minimum(1.0, CLIP / norm)
    keys = jax.random.split(noise, len(leaves))
    sums = [jnp.tensordot(factor, g, 1) + SIGMA * CLIP * jax.random.normal(k, g.shape[1:]) for g, k in zip(leaves, keys)]
    grad = jax.tree.unflatten(tree, [s / batch for s in sums])
    t = t + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grad)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grad)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return (params, first, second, t), None


def main():
    key = jax.random.key(1)
    images = jax.random.bernoulli(key, 0.5, (N, 784)).astype(jnp.float32)
    params = {k: (0.01 * jax.random.normal(key, s), jnp.zeros(s[1])) for k, s in SIZES.items()}
    zero = jax.tree.map(jnp.zeros_like, params)
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}, {STEPS} steps in one call; products in float32, and in TF32, its default:")
    keys = jax.random.split(key, STEPS)
    for precision in "float32", "tensorfloat32":
        for batch in 128, 512:
            with jax.default_matmul_precision(precision):
                steps = jax.jit(lambda images, state, keys: jax.lax.scan(lambda s, k: step(images, batch, s, k), state, keys)[0])
                times = []
                for _ in range(4):  # the first one compiles
                    start = time.perf_counter()
                    jax.block_until_ready(steps(images, (params, zero, zero, jnp.float32(0)), keys))
                    times.append((time.perf_counter() - start) / STEPS)
            best = min(times[1:])
            print(f"| autoencoder B={batch}, JAX {precision} | {batch} | {1e6 * best:.1f} | {1 / best:.0f} | | {best * -(-N // batch):.3f} s |")


main()
