// Real routers come up, stop as they are told, come back where they were, and leave no process behind, whatever
// becomes of the process that started them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { openRawPeer } from '../raw-wamp-peer.ts'
import { rawSocketAnswers, webSocketAnswers } from './listener-answers.ts'
import { describeWithRouter, type ObservedRow } from './describe-with-router.ts'
import { prepareSuite, START_MS } from './router-under-test.ts'
import { startRouter, type RealRouter } from './start-router.ts'
import { isAlive } from '../is-alive.ts'

const suite = await prepareSuite('nexus')

let router: RealRouter

const start = async (): Promise<void> => {
  router = await startRouter('nexus', { realms: ['com.example.more'] })
}

const stop = async (): Promise<void> => {
  await router[Symbol.asyncDispose]()
}

const answers = async (): Promise<unknown> =>
  Promise.all([webSocketAnswers(router.ports.ws), rawSocketAnswers(router.ports.rawsocket)])

/** A program of its own that runs a router, as a test worker does. */
const PROGRAM = join(import.meta.dirname, 'router-program.ts')

const endsWithItsStarter = async (signal: NodeJS.Signals): Promise<unknown> => {
  const starter = spawn(process.execPath, [PROGRAM, 'start', 'nexus'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: starter.stdout }), 'line')) as [string]
  const { pid } = JSON.parse(line) as { readonly pid: number }
  const before = isAlive(pid)
  starter.kill(signal)
  await once(starter, 'close')
  await eventually(() => {
    expect(isAlive(pid)).toBe(false)
  })
  return { before }
}

const ROWS: readonly ObservedRow[] = [
  {
    title: 'anyone may join the realms that were asked for',
    expected: true,
    observe: async () => {
      await using peer = await openRawPeer({ url: router.ws, realm: 'com.example.more' })
      return peer.sessionId > 0
    },
  },
  {
    title: 'stops, and starts again on the same ports as another process',
    expected: { stopped: [false, false], again: [true, true], isOther: true },
    observe: async () => {
      const { pid } = router
      await router.stop()
      await router.stop()
      const stopped = await answers()
      await router.restart()
      return { stopped, again: await answers(), isOther: router.pid !== pid }
    },
  },
  {
    title: 'kill -9 closes connections at once',
    expected: true,
    observe: async () => {
      await using peer = await openRawPeer({ url: router.rawsocket, realm: 'com.example.more' })
      await router.stop({ kill: true })
      const hasEnded = await peer.endsWithin(15_000)
      await router.restart()
      return hasEnded
    },
  },
  {
    title: 'frozen: connections stay and nothing moves; thawed: it goes on',
    expected: { ended: false, thawed: [true, true] },
    observe: async () => {
      await using peer = await openRawPeer({ url: router.rawsocket, realm: 'com.example.more' })
      router.freeze()
      peer.send([48, 1, {}, 'com.example.nobody'])
      const ended = await peer.endsWithin(100)
      router.thaw()
      await peer.responseTo([48, 1])
      return { ended, thawed: await answers() }
    },
  },
  {
    title: 'says why it did not start',
    expected: 'json',
    observe: async () => {
      const starting = startRouter('nexus', { config: { deny: 'no list' } })
      const why = await starting.then(String, (error: unknown) => String(error))
      return /json/.exec(why)?.[0]
    },
  },
  {
    title: 'ends with the process that started it, in order',
    expected: { before: true },
    observe: () => endsWithItsStarter('SIGTERM'),
  },
  {
    title: 'ends with the process that started it, killed',
    expected: { before: true },
    observe: () => endsWithItsStarter('SIGKILL'),
  },
]

describeWithRouter(suite, () => ({ rows: ROWS, start, stop }), START_MS)
