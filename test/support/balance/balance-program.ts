// Runs the scenarios of load balancing at full length, with the gateway's own settings, one after the other, and prints what
// was measured beside what must come. Ends with 1 if a limit is not kept. Words on the command line choose scenarios by name.

import { argv } from 'node:process'
import { type Check, isKept } from './check.ts'
import { startBalanceRig } from './rig.ts'
import { LONG_SCENARIOS } from './scenarios.ts'

const PER_SECOND = 500
const MINUTE_MS = 60_000

const words = argv.slice(2)
const chosen = LONG_SCENARIOS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)

const limitOf = ({ least, most }: Check): string =>
  [least === undefined ? [] : `≥ ${least}`, most === undefined ? [] : `≤ ${most}`].flat().join(', ')

let broken = 0

const print = (name: string, check: Check): void => {
  if (!isKept(check)) broken++
  const { what, measured } = check
  const row = [name, what, String(Number(measured.toFixed(3))), limitOf(check)]
  console.log(`| ${row.join(' | ')} | ${isKept(check) ? 'kept' : '**broken**'} |`)
}

await using rig = await startBalanceRig({
  connectionAgeSeconds: undefined,
  renewedMs: MINUTE_MS,
  requestsPerSecond: PER_SECOND,
  fastPerSecond: PER_SECOND,
  updatePerSecond: PER_SECOND,
  sampleOf: () => 20 * PER_SECOND,
  responseMs: 100,
})

console.log('| scenario | what | measured | must be | |\n|---|---|---|---|---|')
for (const { name, run } of chosen)
  try {
    for (const check of await run(rig)) print(name, check)
  } catch (error) {
    broken++
    console.log(`| ${name} | ${String(error)} | | | **broken** |`)
  }
process.exitCode = broken > 0 || chosen.length === 0 ? 1 : 0
