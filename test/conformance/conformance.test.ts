// Runs every conformance case against one real gateway process. Files run side by side, a few ahead of
// the one that is reported; the steps of a file run in order.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startEchoUpstream } from '../support/echo-upstream.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { addressOf } from '../support/raw-client.ts'
import { readCaseFiles } from './runner/case-file.ts'
import { runFile, type Bench, type Results } from './runner/run-file.ts'

const FILES_AHEAD = 3
const FILE_TIMEOUT_MS = 60_000

const files = await readCaseFiles(join(import.meta.dirname, 'cases'))

const runs: Promise<Results>[] = []
const stops: (() => Promise<unknown>)[] = []
let bench: Promise<Bench> | undefined

const startBench = async (): Promise<Bench> => {
  const gateway: GatewayProcess = await startGateway()
  const [first, second] = await Promise.all([startEchoUpstream(), startEchoUpstream()])
  stops.push(gateway.stop, first.close, second.close)
  return {
    public: addressOf(gateway.public),
    management: addressOf(gateway.management),
    upstreams: [first, second],
    refused: '127.0.0.1:1',
  }
}

/** Starts a file unless it has been started, so that a filtered run starts only what it reports. */
const start = (index: number): Promise<Results> | undefined => {
  const file = files[index]
  if (file === undefined || bench === undefined) return undefined
  return (runs[index] ??= bench.then((around) => runFile(file, around)))
}

beforeAll(async () => {
  bench = startBench()
  await bench
})

afterAll(async () => {
  await Promise.allSettled(runs)
  for (const stop of stops) await stop()
})

describe.each(files.map((file, index) => ({ file, index })))('$file.stem', ({ file, index }) => {
  let results: Results = new Map()

  beforeAll(async () => {
    for (let ahead = 1; ahead <= FILES_AHEAD; ahead += 1) void start(index + ahead)
    results = (await start(index)) ?? results
  }, FILE_TIMEOUT_MS)

  it.each(file.steps.map((step) => ({ step })))('$step.name', ({ step }) => {
    const { why } = step
    expect({ faults: results.get(step), why }).toEqual({ faults: [], why })
  })
})

describe('the files', () => {
  it('name every step, each by a name of its own', () => {
    const names = files.flatMap(({ stem, steps }) =>
      steps.map(({ name }) => `${stem} › ${name ?? ''}`),
    )
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => name.endsWith('› '))).toEqual([])
  })
})
