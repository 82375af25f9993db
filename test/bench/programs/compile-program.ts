// How long a document takes from JSON text to what is served, in this process and by stages: out come µs
// per document, as JSON on stdout, for a process that has just begun and for one that is warm.

import { compile } from '../../../language/compile.ts'
import { digestOf } from '../../../language/wire/digest.ts'
import type { Value } from '../../../language/expression/value.ts'
import { measure } from '../../../language/measure.ts'
import { validate } from '../../../language/validate.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { manyDocument } from '../documents.ts'
import type { CompileTimes, StageTimes } from '../tables/compile.ts'

const DOCUMENTS = 1000
const WARM_PASSES = Number(process.argv[2])
const environment = { realm: () => ({ authmethods: [], oidcProviders: [] }) }

/** `compile` measures and validates by itself: what is left of it is the compiling. */
const timePass = (pass: number): StageTimes => {
  const spentMs = { parse: 0, digest: 0, measure: 0, validate: 0, compile: 0, pack: 0 }
  const time = <T>(stage: keyof typeof spentMs, work: () => T): T => {
    const startedMs = performance.now()
    const result = work()
    spentMs[stage] += performance.now() - startedMs
    return result
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const text = JSON.stringify(manyDocument(pass * DOCUMENTS + index))
    const document = time('parse', () => JSON.parse(text) as Value)
    time('digest', () => digestOf(document))
    time('measure', () => measure(document))
    time('validate', () => validate(document))
    const outcome = time('compile', () => compile(document, environment))
    if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
    time('pack', () => packDocument(outcome.compiled, { since: 0, rank: 1 }))
  }
  const micros = (ms: number): number => (ms * 1000) / DOCUMENTS
  return {
    parse: micros(spentMs.parse),
    digest: micros(spentMs.digest),
    measure: micros(spentMs.measure),
    validate: micros(spentMs.validate),
    compile: micros(spentMs.compile - spentMs.measure - spentMs.validate),
    pack: micros(spentMs.pack),
  }
}

const times: CompileTimes = {
  first: timePass(0),
  later: Array.from({ length: WARM_PASSES }, (_, pass) => timePass(pass + 1)),
}
process.stdout.write(JSON.stringify(times))
