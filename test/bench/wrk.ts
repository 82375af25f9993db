// What wrk is told and what it says: a load in, its Lua script and command line out; its output in, the
// figures out. Runs nothing.

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** More headers of each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** A JSON text: requests are POSTs of it. */
  readonly post?: string
  /** Documents of `manyDocument` whose hosts are drawn at random; the URL as it stands if left out. */
  readonly random?: RandomTargets
  /** Each connection pauses between two requests for up to twice this time, in whole milliseconds. */
  readonly pauseMs?: number
}

export interface RandomTargets {
  readonly documents: number
  readonly paths: number
}

export interface Loaded {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly socketErrors: number
}

export const wrkCommand = (
  { url, seconds, connections }: Load,
  scriptFile: string,
): readonly string[] => [
  'wrk',
  '-t1',
  `-c${connections}`,
  `-d${seconds}s`,
  '--timeout',
  '10s',
  '-s',
  scriptFile,
  url,
]

export const wrkScript = ({ headers = {}, post, random, pauseMs }: Load): string =>
  [
    ...Object.entries(headers).map(headerScript),
    post === undefined ? '' : postScript(post),
    random === undefined ? '' : randomScript(random),
    pauseMs === undefined
      ? ''
      : `function delay()
  return math.random(0, ${Math.round(2 * pauseMs)})
end
`,
    DONE,
  ].join('')

const headerScript = ([name, value]: readonly [string, string]): string =>
  `wrk.headers["${name}"] = [==[${value}]==]
`

const postScript = (body: string): string => `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[${body}]==]
`

const randomScript = ({ documents, paths }: RandomTargets): string => `function request()
  wrk.headers["Host"] = "host-" .. math.random(0, ${documents - 1}) .. ".bench.test"
  return wrk.format("GET", "/v1/resource-" .. math.random(0, ${paths - 1}) .. "/7")
end
`

const DONE = `function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("RESULT %d %d %f %f %d %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), broken, errors.status))
end
`

/** @throws Error when it says nothing, or when there were responses that are errors */
export const parseWrk = (output: string): Loaded => {
  const figures = /^RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+) (\d+)$/m.exec(output)
  if (figures === null) throw new Error(`wrk gave no result:\n${output}`)
  const [requests = 0, micros = 0, p50 = 0, p99 = 0, socketErrors = 0, refused = 0] = figures
    .slice(1)
    .map(Number)
  if (refused > 0) throw new Error(`${refused} of ${requests} responses are errors (400 or above)`)
  return {
    requests,
    seconds: micros / 1e6,
    p50Ms: p50 / 1e3,
    p99Ms: p99 / 1e3,
    socketErrors,
  }
}
