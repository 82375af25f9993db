// Runs a command while its processes are stopped at random for 30–600 ms, several times a second: what depends on how
// fast a machine is fails then. Linux only.
//
// usage: halted-program.ts COMMAND [ARGUMENT…]   HALT_SEED=N: other processes, at other times

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { argv, env, pid, platform } from 'node:process'
import { seededRandom } from '../seeded-random.ts'
import { startHalts } from './halts.ts'

const [command, ...rest] = argv.slice(2)
if (command === undefined || platform !== 'linux') {
  process.stderr.write('usage, on Linux: halted-program.ts COMMAND [ARGUMENT…]\n')
  process.exitCode = 2
} else {
  const seed = Number(env['HALT_SEED'] ?? 1)
  const halts = startHalts({ rootPid: pid, random: seededRandom(seed) })
  process.once('exit', () => {
    halts.end()
  })
  // Ctrl-C reaches the command too, which may need to go on to end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      halts.end()
    })
  }
  const [code] = (await once(spawn(command, rest, { stdio: 'inherit' }), 'close')) as [
    number | null,
  ]
  halts.end()
  process.stderr.write(`halted ${halts.count} times; HALT_SEED=${seed}\n`)
  process.exitCode = code ?? 1
}
