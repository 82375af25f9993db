// Measures whether a document that is changed under load ever answers wrongly: its upstream, headers, security and paths
// change with each version, and each response must be that of a version which may answer then.

import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayPod } from '../../component/kubernetes/home.ts'
import { eventually } from '../../support/eventually.ts'
import { API_KEY, LIVE_HOST, liveResource, liveVersion } from './documents.ts'
import { QUESTIONS, type Question, wrongness } from './response-checker.ts'
import { liveIsServed, type Rig } from './rig.ts'
import { type ReceivedResponse, startSteadyLoad } from './steady-load.ts'

export interface Changed {
  readonly changes: number
  readonly requests: number
  /** Versions of which a response was seen. */
  readonly versionsSeen: number
  readonly latenciesMs: readonly number[]
  /** Of each wrong response, why. */
  readonly wrong: readonly string[]
}

const PACE_MS = 200

export const changeRoutes = async (
  rig: Rig,
  changes: number,
  perSecond: number,
): Promise<Changed> => {
  const { gateways } = rig
  const applyVersion = (number: number): Promise<void> =>
    rig.apply(liveResource(liveVersion(number), rig.upstreams))
  await applyVersion(0)
  await eventually(() => liveIsServed(rig))
  let newest = 0
  let requests = 0
  const wrong: string[] = []
  const seenVersions = new Set<number>()
  /** A gateway that has answered with a version never goes back to one before it. */
  const confirmed = new Map<GatewayPod, number>()
  const load = startSteadyLoad({
    perSecond,
    ask: (index) => {
      const gateway = gateways[index % gateways.length]
      if (gateway === undefined) throw new Error('no gateway')
      const question = QUESTIONS[Math.floor(index / gateways.length) % QUESTIONS.length]
      if (question === undefined) throw new Error('no question')
      const oldest = confirmed.get(gateway) ?? 0
      return {
        url: `${gateway.gateway.public}${question === 'extra path' ? '/extra' : '/live'}`,
        headers: headersOf(question),
        onResponse: (response) => {
          requests += 1
          const seen = readSeen(response)
          const why = wrongness(question, seen, { oldest, newest })
          if (why !== undefined) wrong.push(`${question}: ${why}`)
          const { version } = seen
          if (version === undefined) return
          seenVersions.add(version)
          confirmed.set(gateway, Math.max(version, confirmed.get(gateway) ?? 0))
        },
      }
    },
  })
  for (let number = 1; number <= changes; number++) {
    newest = number
    await applyVersion(number)
    await sleep(PACE_MS)
  }
  const latenciesMs = load.takeLatencies()
  await load[Symbol.asyncDispose]()
  return { changes, requests, versionsSeen: seenVersions.size, latenciesMs, wrong }
}

const headersOf = (question: Question): Readonly<Record<string, string>> =>
  question === 'without key' ? { host: LIVE_HOST } : { host: LIVE_HOST, 'x-api-key': API_KEY }

const readSeen = ({ status, headers, text }: ReceivedResponse): Parameters<typeof wrongness>[1] => {
  const version = headers['x-version']
  const body =
    status === 200
      ? (JSON.parse(text) as { readonly upstream: number; readonly sent?: string })
      : undefined
  return {
    status,
    version: typeof version === 'string' ? Number(version) : undefined,
    upstream: body?.upstream,
    sentVersion: body?.sent === undefined ? undefined : Number(body.sent),
  }
}
