// Four documents that are too expensive, in an operator with a heap of 256 MB, do not end it: others are validated
// meanwhile, its webhook answers, and the next operator does not try them again.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { API_VERSION, GROUP } from '../../operator/resource/resource.ts'
import { manyRoutes } from '../compiler/costly-documents.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { aSpecification } from '../support/resources.ts'
import { makeTempDir } from '../support/temp-dir.ts'

interface Line {
  readonly url?: string
  readonly ca?: string
  readonly tried?: string
  readonly name?: string
  readonly namespace?: string
  readonly accepted?: string
  readonly status?: object
}

/** Each costs a worker thread that runs out of memory: 1 to 6 s, by machine. */
const COSTLY_DOCUMENTS = 4

const PROGRAM = fileURLToPath(new URL('judging-program.ts', import.meta.url))

const anOperator = (...args: readonly string[]) => {
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=256', PROGRAM, String(COSTLY_DOCUMENTS), ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    },
  )
  const lines: Line[] = []
  createInterface({ input: child.stdout }).on('line', (line) =>
    lines.push(JSON.parse(line) as Line),
  )
  const acceptedOf = (name: string): string | undefined =>
    lines.find((line) => line.name === name)?.accepted
  return {
    lines,
    acceptedOf,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    validated: (namespace: string) => lines.filter((line) => line.namespace === namespace),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const reviewOf = (namespace: string, document: object): object => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u-1',
    kind: { group: GROUP, version: 'v1alpha1', kind: 'ApiSpecification' },
    operation: 'CREATE',
    namespace,
    name: 'a',
    object: {
      apiVersion: API_VERSION,
      kind: 'ApiSpecification',
      metadata: { name: 'a', namespace },
      spec: { document },
    },
  },
})

it('others are validated, the webhook answers, and a restart tries none again', async () => {
  await using directory = await makeTempDir()
  const file = join(directory.path, 'statuses.json')
  {
    await using operator = anOperator()
    const opened = await eventually(
      () => {
        const [first] = operator.lines
        if (first?.url === undefined) throw new Error('it does not listen yet')
        return first
      },
      { withinMs: 60_000 },
    )
    const ask = async (namespace: string, document: object): Promise<unknown> => {
      const response = await request(`${opened.url ?? ''}/validate`, {
        method: 'POST',
        tls: { ca: opened.ca ?? '', servername: 'hook.test' },
        body: JSON.stringify(reviewOf(namespace, document)),
      })
      expect(response.status).toBe(200)
      const { allowed, warnings = [] } = (
        JSON.parse(response.text) as {
          readonly response: { readonly allowed: boolean; readonly warnings?: readonly string[] }
        }
      ).response
      return warnings[0]?.startsWith('not validated yet') === true ? 'late' : allowed
    }
    await eventually(
      () => {
        expect(operator.lines.some(({ tried }) => tried !== undefined)).toBe(true)
      },
      { withinMs: 60_000 },
    )
    expect(await ask('alice', aSpecification('a'))).toBe(true)
    expect(await ask('alice', aSpecification('a', { host: 5 }))).toBe(false)
    // Refused, or not validated in time where the machine is slow: never the end of it.
    expect([false, 'late']).toContain(await ask('mallory', manyRoutes('a', 20_000)))
    await eventually(
      () => {
        expect([operator.acceptedOf('small'), operator.acceptedOf('large')]).toEqual([
          'Accepted',
          'Accepted',
        ])
      },
      { withinMs: 60_000 },
    )
    // In turns: one who has many does not hold up one who has a single document.
    const large = operator.lines.findIndex(({ name }) => name === 'large')
    const earlier = operator.lines.slice(0, large).filter((line) => line.namespace === 'mallory')
    expect(earlier.length).toBeLessThan(COSTLY_DOCUMENTS)
    await eventually(
      () => {
        expect(operator.validated('mallory').map(({ accepted }) => accepted)).toEqual(
          Array(COSTLY_DOCUMENTS).fill('TooExpensive'),
        )
      },
      { withinMs: 200_000 },
    )
    expect(operator.isRunning()).toBe(true)
    const statuses = operator.lines.flatMap(({ name, status }) =>
      name === undefined ? [] : [[name, status]],
    )
    await writeFile(file, JSON.stringify(Object.fromEntries(statuses)))
  }
  await using next = anOperator(file)
  await eventually(
    () => {
      expect(next.validated('mallory').map(({ accepted }) => accepted)).toEqual(
        Array(COSTLY_DOCUMENTS).fill('TooExpensive'),
      )
      expect(next.acceptedOf('large')).toBe('Accepted')
    },
    { withinMs: 60_000 },
  )
  expect(next.lines.filter(({ tried }) => tried !== undefined)).toEqual([])
}, 400_000)
