// Starts a process of so many stand-ins for data planes, and reads what each of them has received. It ends with the
// process that started it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../support/eventually.ts'
import type { StandInFacts } from './stand-in.ts'

export interface Address {
  readonly ip: string
  readonly port: number
}

/** How many data planes have taken a version of a document, and when the first and the last one did (Unix time, ms). */
export interface ReceivedCall {
  readonly planes: number
  readonly firstAtMs: number
  readonly lastAtMs: number
}

type Question =
  | { readonly ask: 'facts' }
  | { readonly ask: 'arrivals'; readonly keys: readonly string[] }
  | { readonly ask: 'mark' }
  | { readonly ask: 'restart'; readonly planes: readonly number[] }

export type Asked = Question & { readonly turn: number }

export interface Told {
  /** Of the question; 0 when it listens. */
  readonly turn: number
  readonly response: readonly StandInFacts[] | readonly ReceivedCall[] | readonly Address[]
}

export interface Version {
  readonly id: string
  readonly digest: string
}

export interface StandIns extends AsyncDisposable {
  readonly pid: number
  readonly addresses: readonly Address[]
  readonly facts: () => Promise<readonly StandInFacts[]>
  /** Since the last mark. */
  readonly arrivals: (versions: readonly Version[]) => Promise<readonly ReceivedCall[]>
  /** Counts and arrivals from zero. */
  readonly mark: () => Promise<void>
  /** Other processes by the same addresses, empty. */
  readonly restart: (planes: readonly number[]) => Promise<void>
  /** Until that is true of each of these data planes. @throws after `withinMs` */
  readonly until: (
    planes: readonly number[],
    is: (facts: StandInFacts) => boolean,
    withinMs: number,
  ) => Promise<readonly StandInFacts[]>
}

const PROGRAM = fileURLToPath(new URL('stand-ins-program.ts', import.meta.url))
const POLL_MS = 20

export const startStandIns = async (manager: string, count: number): Promise<StandIns> => {
  const child = fork(PROGRAM, [manager, String(count)], { execArgv: [], stdio: 'inherit' })
  const waiting = new Map<number, (response: Told['response']) => void>()
  const opened = Promise.withResolvers<Told['response']>()
  waiting.set(0, opened.resolve)
  child.once('exit', () => {
    opened.reject(new Error('the stand-ins for data planes did not start'))
  })
  child.on('message', (message) => {
    const { turn, response } = message as Told
    waiting.get(turn)?.(response)
    waiting.delete(turn)
  })
  let last = 0
  const ask = (question: Question): Promise<Told['response']> =>
    new Promise((resolve) => {
      last += 1
      waiting.set(last, resolve)
      child.send({ ...question, turn: last })
    })
  const facts = async (): Promise<readonly StandInFacts[]> =>
    (await ask({ ask: 'facts' })) as readonly StandInFacts[]
  return {
    pid: child.pid ?? 0,
    addresses: (await opened.promise) as readonly Address[],
    facts,
    arrivals: async (versions) => {
      const keys = versions.map(({ id, digest }) => `${id}\t${digest}`)
      return (await ask({ ask: 'arrivals', keys })) as readonly ReceivedCall[]
    },
    mark: async () => {
      await ask({ ask: 'mark' })
    },
    restart: async (planes) => {
      await ask({ ask: 'restart', planes })
    },
    until: async (planes, is, withinMs) =>
      eventually(
        async () => {
          const all = await facts()
          const asked = planes.flatMap((index) => all[index] ?? [])
          const missing = asked.filter((each) => !is(each)).length
          if (missing > 0) throw new Error(`${missing} of ${planes.length} data planes are not so`)
          return asked
        },
        { withinMs, everyMs: POLL_MS },
      ),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
