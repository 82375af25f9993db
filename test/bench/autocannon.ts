// A load in, what autocannon measured out: for machines without wrk. The package is optional.

import type { Load, Loaded, RandomTargets } from './wrk.ts'

interface Target {
  path?: string
  headers?: Readonly<Record<string, string>>
}

type Autocannon = (options: {
  readonly url: string
  readonly connections: number
  readonly duration: number
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly requests?: readonly { readonly setupRequest: (request: Target) => Target }[]
}) => Promise<{
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly latency: { readonly p50: number; readonly p99: number }
  readonly errors: number
  readonly non2xx: number
}>

/** @throws Error when there were responses that are errors; for a load with pauses, which it cannot make */
export const runAutocannon = async ({
  url,
  seconds,
  connections,
  headers = {},
  post,
  random,
  pauseMs,
}: Load): Promise<Loaded> => {
  if (pauseMs !== undefined) throw new Error('autocannon cannot pause between requests')
  const name = 'autocannon'
  const { default: autocannon } = (await import(name)) as { readonly default: Autocannon }
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: post === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(post === undefined ? {} : { method: 'POST', body: post }),
    ...(random === undefined ? {} : { requests: [{ setupRequest: drawing(random) }] }),
  })
  if (result.non2xx > 0) throw new Error(`${result.non2xx} responses are not 2xx`)
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    socketErrors: result.errors,
  }
}

const drawing =
  ({ documents, paths }: RandomTargets) =>
  (request: Target): Target => ({
    ...request,
    path: `/v1/resource-${draw(paths)}/7`,
    headers: { ...request.headers, host: `host-${draw(documents)}.bench.test` },
  })

const draw = (count: number): number => Math.floor(Math.random() * count)
