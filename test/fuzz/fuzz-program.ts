// Fuzzes all targets by turns, or those that are named, and prints what it finds with the command that repeats it.
//
// usage: make fuzz   FUZZ_SECONDS=600: of all targets together   FUZZ_SEED=N: of this run before
//                    FUZZ_TARGET=NAME,…: these alone   FUZZ_INPUT=BASE64: this input of the target, and no others
//                    FUZZ_CASES=N: so many of each target, however long it takes, and what became of them

import { env, stderr, stdout } from 'node:process'
import { corpusOf } from './corpus.ts'
import { fuzz, type FuzzReport, type FuzzTarget, repeat, repeatCommand } from './fuzz.ts'
import { TARGETS } from './targets.ts'

const DEFAULT_SECONDS = 600
/** Of an input that is printed. */
const SHOWN = 2000

const chosenTargets = (names: string | undefined): readonly FuzzTarget[] => {
  if (names === undefined || names === '') return TARGETS
  return names.split(',').map((name) => {
    const target = TARGETS.find((each) => each.name === name)
    if (target !== undefined) return target
    throw new RangeError(`no target ${name}; there are ${TARGETS.map((each) => each.name).join()}`)
  })
}

const numberOf = (name: string, otherwise: number): number => {
  const text = env[name] ?? ''
  const number = text === '' ? otherwise : Number(text)
  if (Number.isFinite(number) && number >= 0) return number
  throw new RangeError(`${name}=${text} is no number`)
}

const shown = (input: Buffer): string => {
  const text = JSON.stringify(input.toString('latin1'))
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${input.length} bytes)` : text
}

const failureText = (target: string, input: Buffer, error: Error): string =>
  `${target}: ${error.stack ?? error.message}\n  input (Latin-1): ${shown(input)}\n` +
  `  again: ${repeatCommand(target, input)}\n`

const reportText = ({ target, cases, outcomes, slowest, failure }: FuzzReport): string => {
  const line = `${target.padEnd(20)} ${String(cases).padStart(9)} cases, ${outcomes} outcomes, slowest ${slowest.ms.toFixed(0)} ms`
  if (failure === undefined) return `${line}\n`
  const found = `${line}, a FAULT in ${failure.foundBytes} bytes, here in ${failure.input.length}\n`
  return found + failureText(target, failure.input, failure.error)
}

const tallyText = ({ tally }: FuzzReport): string =>
  [...tally]
    .sort(([, one], [, other]) => other - one)
    .map(([outcome, count]) => `${String(count).padStart(12)}  ${outcome}\n`)
    .join('')

/** What is checked now: of a fault that no check can catch. */
let current: { readonly target: string; readonly input: Buffer } | undefined

process.on('uncaughtException', (error: Error) => {
  const { target = '', input = Buffer.alloc(0) } = current ?? {}
  stderr.write(`uncaught while or after this was checked:\n${failureText(target, input, error)}`)
  process.exit(1)
})

const fuzzAll = async (targets: readonly FuzzTarget[]): Promise<boolean> => {
  const seconds = numberOf('FUZZ_SECONDS', DEFAULT_SECONDS)
  const seed = numberOf('FUZZ_SEED', Math.floor(Math.random() * 2 ** 32))
  const most = numberOf('FUZZ_CASES', 0)
  stdout.write(`FUZZ_SEED=${seed} ${most > 0 ? `FUZZ_CASES=${most}` : `FUZZ_SECONDS=${seconds}`}\n`)
  let isSound = true
  for (const target of targets) {
    const untilMs = performance.now() + (seconds * 1000) / targets.length
    const report = await fuzz(target, {
      seed,
      corpus: corpusOf(target.name),
      isOver: (cases) => (most > 0 ? cases >= most : performance.now() >= untilMs),
      onCase: (input) => {
        current = { target: target.name, input }
      },
    })
    stdout.write(reportText(report))
    if (most > 0) stdout.write(tallyText(report))
    isSound &&= report.failure === undefined
  }
  return isSound
}

const repeatOne = async (target: FuzzTarget | undefined, input: Buffer): Promise<boolean> => {
  if (target === undefined) throw new RangeError('FUZZ_INPUT needs a FUZZ_TARGET')
  current = { target: target.name, input }
  try {
    stdout.write(`${target.name}: ${await repeat(target, input)}\n`)
    return true
  } catch (error) {
    stdout.write(failureText(target.name, input, error as Error))
    return false
  }
}

const targets = chosenTargets(env['FUZZ_TARGET'])
const input = env['FUZZ_INPUT']
const isSound =
  input === undefined || input === ''
    ? await fuzzAll(targets)
    : await repeatOne(targets[0], Buffer.from(input, 'base64'))
process.exitCode = isSound ? 0 : 1
