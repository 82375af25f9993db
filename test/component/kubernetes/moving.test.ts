// A path that goes from one document to another while clients ask for it without a pause: not one of them may meet
// a gateway on which no document has it.

import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { untilPhase } from '../../support/kubernetes/odd-pages.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

const HOST = 'shop.test'
const CLIENTS = 4
const PAUSE_MS = 3

await describeWithKubernetes('under a steady load', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateways: readonly GatewayPod[]

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateways = [
      await home.startGatewayPod({ name: 'one-process' }),
      await home.startGatewayPod({ name: 'two-workers', flags: ['--processes', '2'] }),
    ]
    await plane().apply([realmObject('shop')])
    // Pods come by a watch of their own: one that the operator does not know yet serves nothing.
    for (const { pod } of gateways)
      await untilPhase(operator, `${pod.namespace}/${pod.name}`, 'synced')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const ready = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await home.until('shop', name, 'Ready', 'Ready')
  }

  /** Until every client of every gateway gets this response and no other. */
  const allAnswer = (loads: readonly Load[], text: string): Promise<void> =>
    eventually(async () => {
      for (const load of loads) {
        load.forget()
        await load.more()
        expect(load.texts()).toEqual([JSON.stringify(text)])
      }
    }, PATIENCE)

  /** While they ask for `/PLACE/moving`; `place` is for one test. */
  const underLoad = async (
    place: string,
    act: (loads: readonly Load[]) => Promise<void>,
  ): Promise<readonly Load[]> => {
    const loads = gateways.map(({ gateway }) => startLoad(`${gateway.public}/${place}/moving`))
    try {
      await act(loads)
    } finally {
      for (const load of loads) await load.stop()
    }
    return loads
  }

  /** Milliseconds that the operator knew of the first of two changes alone, by its log since so many lines. */
  const apartMs = (known: number): number => {
    const [first, second] = operator
      .logs()
      .slice(known)
      .filter((line) => line.includes('"msg":"desired state has changed"'))
      .map((line) => Date.parse((JSON.parse(line) as { readonly time: string }).time))
    return first === undefined || second === undefined ? 0 : second - first
  }

  it.each([
    ['older', 'younger', 'receiver'],
    ['older', 'younger', 'giver'],
    ['younger', 'older', 'receiver'],
    ['younger', 'older', 'giver'],
  ])('a path moves from the %s document to the %s, the %s applied first', async (...how) => {
    const [from, to, first] = how
    for (let attempt = 1; ; attempt += 1) {
      const place = `${from}-${first}-${attempt}`
      // Of one second, the name decides who is older: o before y.
      const [giver, receiver] = [`${from}-${place}`, `${to}-${place}`]
      await plane().apply([
        version(place, giver, ['/moving', '/stays']),
        version(place, receiver, ['/waits']),
      ])
      await ready(giver, receiver)
      const after = [
        version(place, receiver, ['/waits', '/moving']),
        version(place, giver, ['/stays']),
      ]
      const known = operator.logs().length
      const loads = await underLoad(place, async (started) => {
        await allAnswer(started, giver)
        await plane().apply(first === 'receiver' ? after : after.toReversed())
        await ready(giver, receiver)
        await allAnswer(started, receiver)
      })
      // The giver's route waits for half a second: where the operator heard of the other later than that, once more.
      if (first === 'giver' && apartMs(known) > PROMPT_MS && attempt < 12) continue
      expect(lossesOf(loads)).toEqual([])
      return
    }
  })

  it('a document that waits for a path has it at once when its owner is deleted', async () => {
    await plane().apply([version('five', 'five-owner', ['/moving'])])
    await ready('five-owner')
    await plane().apply([version('five', 'five-waiting', ['/moving', '/own'])])
    await home.until('shop', 'five-waiting', 'Accepted', 'Conflicted')
    const loads = await underLoad('five', async (started) => {
      await allAnswer(started, 'five-owner')
      await plane().kubectl(['delete', 'apispec', 'five-owner', '-n', 'shop'])
      await ready('five-waiting')
      await allAnswer(started, 'five-waiting')
    })
    expect(lossesOf(loads)).toEqual([])
  })

  it('an edit of everything else in a document takes nothing from a path that stays', async () => {
    await plane().apply([version('six', 'six-only', ['/moving', '/a'])])
    await ready('six-only')
    const loads = await underLoad('six', async (started) => {
      await allAnswer(started, 'six-only')
      for (const path of ['/b', '/c', '/d']) {
        await plane().apply([version('six', 'six-only', ['/moving', path])])
        await ready('six-only')
      }
      await plane().apply([version('six', 'six-only', ['/moving'], 'edited')])
      await ready('six-only')
      await allAnswer(started, 'edited')
    })
    expect(lossesOf(loads)).toEqual([])
  })
})

/** The route waits for 450 ms at least, from a moment after the line. */
const PROMPT_MS = 400

/** Every request that was not answered with 200; and callers that asked too little to tell. */
const lossesOf = (loads: readonly Load[]): readonly string[] =>
  loads.flatMap(({ faults, answers, reused }) => [
    ...faults,
    ...(answers() > 100 && reused() > answers() / 2
      ? []
      : [`${answers()} answers, ${reused()} of them on a connection that had served before`]),
  ])

/** A document that answers with its name, unless it is told what. */
const version = (
  place: string,
  name: string,
  paths: readonly string[],
  response: string = name,
): object =>
  documentObject('shop', name, {
    host: HOST,
    basePath: `/${place}`,
    paths: Object.fromEntries(paths.map((path) => [path, response])),
  })

interface Load {
  /** Every response but 200, and every request without one. */
  readonly faults: readonly string[]
  readonly answers: () => number
  /** Of them, on a connection that had served before. */
  readonly reused: () => number
  /** Different bodies since `forget`. */
  readonly texts: () => readonly string[]
  readonly forget: () => void
  /** Every client has asked again, and once more, since it was called. */
  readonly more: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** Clients that ask one request after the other, each on a connection of its own. */
const startLoad = (url: string): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const faults: string[] = []
  const texts = new Set<string>()
  const counts = Array.from({ length: CLIENTS }, () => 0)
  const state = { isStopped: false, reused: 0 }
  const run = async (client: number): Promise<void> => {
    while (!state.isStopped) {
      try {
        const { status, text, isReused } = await ask(url, agent)
        if (status === 200) texts.add(text)
        else faults.push(`${status} ${text}`)
        if (isReused) state.reused += 1
      } catch (error) {
        faults.push(String(error))
      }
      counts[client] = (counts[client] ?? 0) + 1
      // Steady, and no more than a busy machine can bear.
      await sleep(PAUSE_MS)
    }
  }
  const clients = counts.map((_, client) => run(client))
  return {
    faults,
    texts: () => [...texts],
    answers: () => counts.reduce((sum, count) => sum + count, 0),
    reused: () => state.reused,
    forget: () => {
      texts.clear()
    },
    more: async () => {
      const before = [...counts]
      await eventually(() => {
        counts.forEach((count, client) => {
          expect(count).toBeGreaterThan((before[client] ?? 0) + 1)
        })
      }, PATIENCE)
    },
    stop: async () => {
      state.isStopped = true
      await Promise.all(clients)
      agent.destroy()
    },
  }
}

const ask = (
  url: string,
  agent: Agent,
): Promise<{ readonly status: number; readonly text: string; readonly isReused: boolean }> =>
  new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { agent, headers: { host: HOST } }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => {
        text += chunk
      })
      incoming.once('error', reject)
      incoming.once('end', () => {
        resolve({ status: incoming.statusCode ?? 0, text, isReused: outgoing.reusedSocket })
      })
    })
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error('no response within 20 s')))
    outgoing.once('error', reject)
    outgoing.end()
  })
