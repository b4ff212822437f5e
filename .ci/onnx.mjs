// Compares ONNX Runtime's outputs with d3p predict; see .ci/onnx.
import assert from 'node:assert'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'

const [d3p, folder] = process.argv.slice(2)
const ort = createRequire(`${process.cwd()}/bin/onnx/`)('onnxruntime-web')
ort.env.wasm.numThreads = 1
ort.env.logLevel = 'error'

// xorshift: the same numbers each time
let state = 1
const random = () => {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5
  return (state >>> 0) / 2 ** 32
}
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i))

// A table is a list of rows, text by column name.
const write = (path, rows) => fs.writeFileSync(path, [Object.keys(rows[0]).join(), ...rows.map(r => Object.values(r).map(v => v === '' || /,/.test(v) ? `"${v}"` : v).join())].join('\n') + '\n')
const cells = line => [...(',' + line).matchAll(/,(?:"([^"]*)"|([^,]*))/g)].map(m => m[1] ?? m[2])
const read = path => {
  const [head, ...lines] = fs.readFileSync(path, 'utf8').trimEnd().split('\n').map(cells)
  return lines.map(line => Object.fromEntries(line.map((v, i) => [head[i], v])))
}

// Tokens of a text, as docs/reference/networks.md has them: bytes, or words of a
// vocabulary and other signs.
const vocabulary = new Map(fs.readFileSync('configs/words.txt', 'utf8').split('\n').filter(w => w.trim()).map((w, i) => [w.trim(), i + 2]))
const tokens = (text, size, bytes) => {
  const all = bytes ? [...Buffer.from(text)].map(b => b + 1) : (text.toLowerCase().match(/[a-z0-9]+|[^\sa-z0-9]/g) ?? []).map(w => vocabulary.get(w) ?? 1)
  return times(size, i => all[i] ?? 0)
}

// numbers are those of one input, row by row: reading is what a table has for it.
const numbers = (rows, name, shape, reading = {}) => {
  const size = shape.slice(1).reduce((n, d) => n * d, 1)
  if (reading.text) return rows.flatMap(r => tokens(r[reading.text], size, reading.bytes))
  if (shape.length > 1) return rows.flatMap(r => times(size, i => Number(r[(reading.columns ?? name) + (i + (reading.first ?? 0))])))
  if (reading.levels) return rows.map(r => reading.levels.indexOf(r[name]))
  return rows.map(r => r[name] === '' ? NaN : Number(r[name]))
}

const run = async (model, rows, readings) => {
  const session = await ort.InferenceSession.create(new Uint8Array(fs.readFileSync(model)), { executionProviders: ['wasm'] })
  const feeds = Object.fromEntries(session.inputMetadata.map(({ name, type, shape }) => {
    const list = numbers(rows, name, shape, readings[name])
    const data = type === 'int64' ? BigInt64Array.from(list.map(BigInt)) : Float32Array.from(list)
    return [name, new ort.Tensor(type, data, [rows.length, ...shape.slice(1)])]
  }))
  const results = await session.run(feeds)
  return session.outputNames.map(name => [...results[name].data])
}

// compare fits a model for a few steps to a table and compares the two predictions.
let compared = 0
const compare = async (name, model, table, readings = {}, reject = 0) => {
  const begun = Date.now()
  const rows = read(table).slice(0, 200), at = `${folder}/${name}`
  const fit = name === 'mlp' ? ['fit', '--epsilon', '2'] : ['fit-nonprivate'] // in a moment
  execFileSync(d3p, [...fit, '--model', model, '--records', String(read(table).length), '--steps', '10', '--batch-size', '20', '--quiet', '--out', at, table], { stdio: ['ignore', 'ignore', 'pipe'] })
  execFileSync(d3p, ['export', at, '--quiet', '--out', at + '.onnx'])
  write(at + '.new.csv', rows)
  execFileSync(d3p, ['predict', at, at + '.new.csv', '--quiet', '--out', at + '.csv'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const expected = read(at + '.csv')
  const columns = Object.keys(expected[0]).filter(c => c === 'mean' || c.startsWith('p['))
  const [theirs] = await run(at + '.onnx', rows, readings)
  assert.equal(theirs.length, rows.length * columns.length, name)
  let empty = 0, apart = 0, least = Infinity, most = -Infinity
  expected.forEach((row, i) => columns.forEach((c, k) => {
    const got = theirs[i * columns.length + k]
    if (row[c] === '') {
      assert(Number.isNaN(got), `${name}, row ${i + 1}: ${got}, d3p predicts nothing`)
      empty++
    } else {
      const want = Number(row[c])
      apart = Math.max(apart, Math.abs(got - want) / (1 + Math.abs(want)))
      assert(apart < 1e-5, `${name}, row ${i + 1}, ${c}: ${got}, d3p predicts ${want}`)
      if (k === 0) [least, most] = [Math.min(least, want), Math.max(most, want)]
    }
  }))
  assert(empty === reject * columns.length, `${name}: ${empty} empty cells`)
  assert(most - least > 1e-4, `${name}: all predictions are ${most}`)
  compared++
  if (process.env.ONNX_TIMES) console.error(name, ((Date.now() - begun) / 1000).toFixed(1), 's,', fs.statSync(at + '.onnx').size, 'bytes, apart', apart.toExponential(1))
}

const config = name => `configs/${name}.yaml`
const simulated = (model, n) => {
  const path = `${folder}/${model.replace(/\W/g, '-')}.data.csv`
  execFileSync(d3p, ['simulate', model, '-n', String(n), '--quiet', '--out', path])
  return path
}

const reviews = { words: { text: 'review' } }, image = first => ({ img: { columns: 'px', first } })
await compare('mlp', config('mlp'), simulated(config('mlp'), 300))
await compare('mlp-adapted', config('mlp-adapted'), simulated(config('mlp-adapted'), 300))
await compare('tabular-transformer', config('tabular-transformer'), simulated(config('tabular-transformer'), 300))
await compare('mlp-mnist', config('mlp-mnist'), simulated(config('mlp-mnist'), 60), image(0))
await compare('cnn-mnist', config('cnn-mnist'), simulated(config('cnn-mnist'), 60), image(0))
await compare('cifar10-cnn', config('cifar10-cnn'), simulated(config('cifar10-cnn'), 20), image(0))
await compare('imdb-embedding', config('imdb-embedding'), simulated(config('imdb-embedding'), 60), { words: { columns: 'w' } })
await compare('names-gru', config('names-gru'), 'datasets/names.csv', { letters: { text: 'name', bytes: true } })
for (const name of ['reviews-embedding', 'reviews-lstm', 'reviews-transformer']) await compare(name, config(name), 'datasets/reviews.csv', reviews)

// One network for each kind of layer, on 16 numbers or 16 levels.
const PLACES = 16, LEVELS = 8, RECORDS = 100
const model = (inputs, layers) => {
  const real = 'type: real, scale: {center: 0.5, by: 2}, source: simulation'
  const column = i => inputs === 'v' ? `    v${i}: {${real}, lower: -3, upper: 3}` : `    w${i}: {type: category, levels: [${times(LEVELS, k => `"${k}"`)}]}`
  return ['d3p: 1', 'name: net', 'data:', '  unit: {entity: record, rows_per_unit: 1}', `  rows: {public: ${RECORDS}}`, '  columns:', ...times(PLACES, column),
    `    y: {${real}, lower: -9, upper: 9}`, 'nets:', '  net:', '    input: [t]', '    layers:',
    ...[...layers, 'flatten', 'dense: {units: 1}'].map(l => `      - ${l}`),
    'core:', `  dims: {t: [${times(PLACES, i => inputs + i)}]}`, '  rows:', '    observe:', '      y: normal(net(columns(t)), 1)',
    'privacy: {epsilon: 5, delta: 1.0e-4, neighbours: add_remove}'].join('\n') + '\n'
}
const square = 'reshape: {shape: [4, 4]}', cube = 'reshape: {shape: [2, 2, 4]}', sequence = '{units: 3, depth: 2, bidirectional: true, output: sequence}'
const kinds = [
  ['v', 'dense: {units: 5, activation: tanh}', 'layer_norm', 'gelu', 'dropout: {rate: 0.2}', 'silu', 'dense: {units: 4, bias: false, activation: exp}'],
  ['v', 'bilinear: {units: 5, first: 6}', 'sigmoid'],
  ['v', square, 'conv1d: {filters: 6, kernel: 3, padding: 1, activation: silu}', 'group_norm: {groups: 2}', 'max_pool1d: {kernel: 2}'],
  ['v', square, 'conv1d: {filters: 6, kernel: 2, padding: same}', 'max_pool1d: {kernel: 3, stride: 2, padding: same}', 'rms_norm', 'global_avg_pool'],
  ['v', square, 'conv1d_transpose: {filters: 3, kernel: 3, stride: 2}', 'avg_pool1d: {kernel: 3}'],
  ['v', square, 'conv1d_transpose: {filters: 3, kernel: 1, stride: 2, padding: same}', 'avg_pool1d: {kernel: 3, padding: 1, stride: 2}'],
  ['v', square, 'conv2d: {filters: 4, kernel: 3, padding: 1, activation: relu}', 'instance_norm: {affine: true}', 'conv2d_transpose: {filters: 2, kernel: 2, stride: 2}', 'avg_pool2d: {kernel: 2}'],
  ['v', cube, 'conv2d: {filters: 4, kernel: [2, 3], stride: [1, 2], padding: same, bias: false}', 'max_pool2d: {kernel: 2, stride: 1, padding: 1}'],
  ['v', 'reshape: {shape: [2, 2, 2, 2]}', 'conv3d: {filters: 3, kernel: 2, padding: 1, activation: softplus}', 'conv3d_transpose: {filters: 2, kernel: 2}', 'max_pool3d: {kernel: 2}', 'avg_pool3d: {kernel: 2, stride: 1}'],
  ['v', square, 'residual: {layers: [{conv1d: {filters: 4, kernel: 3, padding: same, activation: relu}}, {conv1d: {filters: 4, kernel: 1}}], activation: relu}'],
  ...['rnn', 'gru', 'lstm'].flatMap(cell => [['v', square, `${cell}: ${sequence}`], ['v', square, `${cell}: {units: 3, bias: false}`], ['v', square, `${cell}: {units: 3, depth: 2, bidirectional: true}`]]),
  ['v', square, 'positions', 'multi_head_attention: {heads: 2}'],
  ['v', square, 'transformer: {heads: 2, units: 5, causal: true}'],
  ['w', `embedding: {levels: ${LEVELS}, units: 3}`, 'global_avg_pool'],
]
for (const [i, [inputs, ...layers]] of kinds.entries()) {
  const at = `${folder}/kind${i}`
  fs.writeFileSync(at + '.yaml', model(inputs, layers))
  write(at + '.table.csv', times(RECORDS, () => ({
    ...Object.fromEntries(times(PLACES, k => [inputs + k, inputs === 'v' ? (8 * random() - 4).toFixed(3) : String(Math.floor(LEVELS * random()))])), y: (6 * random() - 3).toFixed(3),
  })))
  await compare(`kind${i}`, at + '.yaml', at + '.table.csv')
}

// Cells that walk as far as a text goes, also an empty one.
const words = `${folder}/words.csv`
write(words, times(RECORDS, i => ({ word: times(i % 8, () => 'abcdef'[Math.floor(6 * random())]).join(''), y: String(i % 2) })))
for (const cell of ['rnn', 'gru', 'lstm']) {
  fs.writeFileSync(`${folder}/${cell}.yaml`, `d3p: 1
name: words
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: ${RECORDS}}
  columns:
    y: {type: binary}
  tensors:
    letters: {from: word, text: bytes, dims: [t], shape: [6]}
nets:
  net: {input: [t], layers: [{embedding: {levels: letters_levels, units: 2}}, {${cell}: {units: 3, depth: 2, bidirectional: true}}, {dense: {units: 1}}]}
core:
  rows: {observe: {y: "bernoulli(logits=net(letters, length=letters_length))"}}
privacy: {epsilon: 5, delta: 1.0e-4, neighbours: add_remove}
`)
  await compare(cell, `${folder}/${cell}.yaml`, words, { letters: { text: 'word', bytes: true } })
}

// Columns of every type, with bounds, transforms, missing and unknown values.
fs.writeFileSync(`${folder}/columns.yaml`, `d3p: 1
name: columns
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 150}
  columns:
    age: {type: integer, lower: 18, upper: 90, scale: {center: 50, by: 15}, source: census}
    dose: {type: real, lower: 0.1, upper: 100, transform: log, scale: {center: 1, by: 2}, source: protocol, missing: {impute: 5, indicator: true}}
    share: {type: real, lower: 0.01, upper: 0.99, transform: logit, source: definition}
    land: {type: category, levels: [north, south, east], unknown: east}
    sex: {type: binary, levels: [female, male], missing: {impute: male}}
    y: {type: real, lower: -9, upper: 9, scale: {center: 3, by: 2}, source: simulation}
nets:
  net: {input: [t], layers: [{dense: {units: 4, activation: tanh}}, {dense: {units: 1}}]}
core:
  dims: {t: [age, dose, dose_missing, share, "land=south", "land=east", sex]}
  rows:
    let:
      older: max(raw(age) - 50, 0) / 10
    observe:
      y: normal(net(columns(t)) + 0.3 * older, 1)
privacy: {epsilon: 5, delta: 1.0e-4, neighbours: add_remove}
`)
const lands = ['north', 'south', 'east'], sexes = ['female', 'male']
write(`${folder}/columns.table.csv`, times(150, i => ({
  age: i % 20 === 3 ? '' : String(Math.floor(100 * random())), dose: i % 7 === 1 ? '' : (120 * random()).toFixed(2), share: random().toFixed(3),
  land: i % 11 === 5 ? 'west' : lands[i % 3], sex: i % 9 === 4 ? '' : sexes[i % 2], y: (6 * random()).toFixed(3),
})))
const reading = { land: { levels: lands }, sex: { levels: sexes } }
const unknown = [...lands, 'west'] // number 3 is beyond the last level
await compare('columns', `${folder}/columns.yaml`, `${folder}/columns.table.csv`, { ...reading, land: { levels: unknown } }, 8)

// What cannot be written is refused: random codes, and a posterior with a spread.
const refused = (run, want) => {
  const { status, stderr } = spawnSync(d3p, ['export', run], { encoding: 'utf8' })
  assert(status === 2 && stderr.includes(want), `${run}: status ${status}, ${stderr}`)
}
const vae = simulated(config('vae-mnist'), 40)
execFileSync(d3p, ['fit-nonprivate', '--model', config('vae-mnist'), '--records', '40', '--steps', '2', '--batch-size', '10', '--quiet', '--out', `${folder}/vae`, vae], { stdio: 'ignore' })
refused(`${folder}/vae`, 'random codes')

// A network alone: the decoder, against its weights.
execFileSync(d3p, ['export', `${folder}/vae`, '--net', 'decoder', '--quiet', '--out', `${folder}/decoder.onnx`])
const raw = fs.readFileSync(`${folder}/vae/release/weights.safetensors`), head = Number(raw.readBigUInt64LE())
const arrays = JSON.parse(raw.subarray(8, 8 + head))
const weight = name => { const [from, to] = arrays[name].data_offsets; return new Float64Array(raw.buffer.slice(raw.byteOffset + 8 + head + from, raw.byteOffset + 8 + head + to)) }
const dense = (x, layer) => [...weight(layer + '.bias')].map((b, o, all) => x.reduce((sum, v, i) => sum + v * weights[layer][i * all.length + o], b))
const weights = Object.fromEntries(['decoder.dense1', 'decoder.dense2'].map(l => [l, weight(l + '.weight')]))
const code = times(50, () => 4 * random() - 2), session = await ort.InferenceSession.create(new Uint8Array(fs.readFileSync(`${folder}/decoder.onnx`)), { executionProviders: ['wasm'] })
const { output } = await session.run({ input: new ort.Tensor('float32', Float32Array.from(code), [1, 50]) })
dense(dense(code, 'decoder.dense1').map(v => Math.log1p(Math.exp(v))), 'decoder.dense2').forEach((want, i) => assert(Math.abs(output.data[i] - want) < 1e-5 * (1 + Math.abs(want)), `pixel ${i}: ${output.data[i]}, want ${want}`))
assert.deepEqual(output.dims, [1, 28, 28])
compared++
console.log(`onnxruntime-web ${ort.env.versions.web} predicts as d3p does: ${compared} networks`)
