// Load on one URL for a bounded time: requests a second and the CPU time the server spent on each. wrk
// where the machine has it, autocannon otherwise.

import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuMicros, has } from './machine.ts'

const run = promisify(execFile)

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** Hosts to draw from at random; the URL's own if left out. */
  readonly hosts?: readonly string[]
}

export interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** @param pid of the server, for its CPU time */
export const measure = async (load: Load, pid: number): Promise<Measured> => {
  const before = cpuMicros(pid)
  const result = has('wrk') ? await runWrk(load) : await runAutocannon(load)
  const spent = cpuMicros(pid) - before
  return {
    perSecond: result.requests / result.seconds,
    cpuMicros: spent / result.requests,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  }
}

interface Result {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const DONE = `done = function(summary, latency)
  if summary.errors.status > 0 then print("BAD " .. summary.errors.status) end
  print(string.format("RESULT %d %f %f %f", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
`

const runWrk = async (load: Load): Promise<Result> => {
  const script = join(mkdtempSync(join(tmpdir(), 'bench-')), 'load.lua')
  writeFileSync(script, hostsScript(load.hosts) + DONE)
  const pinned = has('taskset') ? ['taskset', '-c', '1'] : []
  const line = [...pinned, 'wrk', '-t1', `-c${load.connections}`, `-d${load.seconds}s`, '-s', script, load.url]
  const [program = '', ...args] = line
  const { stdout } = await run(program, args)
  if (stdout.includes('BAD')) throw new Error(`${load.url} answered with errors: ${stdout}`)
  const [, requests, seconds, p50, p99] = /RESULT (\d+) ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stdout) ?? []
  return {
    requests: Number(requests),
    seconds: Number(seconds),
    p50Ms: Number(p50),
    p99Ms: Number(p99),
  }
}

const hostsScript = (hosts: readonly string[] | undefined): string =>
  hosts === undefined
    ? ''
    : `local hosts = {${hosts.map((host) => `"${host}"`).join(',')}}
request = function()
  wrk.headers["Host"] = hosts[math.random(#hosts)]
  return wrk.format("GET", "/v1/resource-" .. math.random(0, 19) .. "/7")
end
`

interface Autocannon {
  (options: object): Promise<{
    readonly requests: { readonly total: number }
    readonly duration: number
    readonly latency: { readonly p50: number; readonly p99: number }
  }>
}

const runAutocannon = async (load: Load): Promise<Result> => {
  const name = 'autocannon'
  const { default: autocannon } = (await import(name)) as { default: Autocannon }
  const host = load.hosts?.[0]
  const { requests, duration, latency } = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    ...(host === undefined ? {} : { headers: { host } }),
  })
  return { requests: requests.total, seconds: duration, p50Ms: latency.p50, p99Ms: latency.p99 }
}
