// Counts the files and functions of a program that one action runs, warm: those that run each time, less those that
// also run at rest.

import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The environment variable that names the directory of the sockets; without it the preload counts nothing. */
export const DIRECTORY_VARIABLE = 'BENCH_COVERAGE'

/** Of a program by its script, `dataplane/main.ts` say. */
export const coverageSocket = (directory: string, script: string): string =>
  join(directory, `${script.split('/').slice(-2).join('-')}.sock`)

export interface Flow {
  /** The socket of the program. */
  readonly socket: string
  readonly act: () => Promise<unknown>
  /** How long what it starts may take, and each look at what runs at rest. */
  readonly settleMs: number
}

export interface Executed {
  readonly files: readonly string[]
  readonly functions: number
}

const WARM_UP = 3
const RESTS = 4
const REPETITIONS = 5

export const countExecuted = async ({ socket, act, settleMs }: Flow): Promise<Executed> => {
  const ranAfter = async (action: () => Promise<unknown>): Promise<ReadonlySet<string>> => {
    await take(socket)
    await action()
    await sleep(settleMs)
    return take(socket)
  }
  for (let warm = 0; warm < WARM_UP; warm++) await act()
  const atRest = new Set<string>()
  for (let rest = 0; rest < RESTS; rest++)
    for (const each of await ranAfter(() => Promise.resolve())) atRest.add(each)
  let always: readonly string[] | undefined
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const ran = await ranAfter(act)
    always = always?.filter((each) => ran.has(each)) ?? [...ran]
  }
  const functions = (always ?? []).filter((each) => !atRest.has(each))
  const files = new Set(functions.map((each) => each.slice(0, each.lastIndexOf(':'))))
  return { files: [...files].toSorted(), functions: functions.length }
}

const take = async (socketPath: string): Promise<ReadonlySet<string>> => {
  const call = request({ socketPath, path: '/', agent: false })
  call.end()
  const [response] = (await once(call, 'response')) as [AsyncIterable<Buffer>]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return new Set(JSON.parse(Buffer.concat(chunks).toString()) as readonly string[])
}
