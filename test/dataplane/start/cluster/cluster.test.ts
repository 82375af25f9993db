import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { eventually } from '../../../support/eventually.ts'
import { programEnvironment } from '../../../support/program-environment.ts'

interface ReceivedResponse {
  readonly status: number
  readonly text: string
  readonly pid: string
}

const children: ChildProcess[] = []

const start = (publicAddress: string, ...more: string[]): ChildProcess => {
  const child = fork(
    `${import.meta.dirname}/cluster-program.ts`,
    ['--public', publicAddress, '--drain-delay-seconds', '0', ...more],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: programEnvironment(),
    },
  )
  children.push(child)
  return child
}

const reply = async (child: ChildProcess): Promise<{ value?: unknown; error?: string }> => {
  const [message] = (await once(child, 'message')) as [{ value?: unknown; error?: string }]
  return message
}

const ask = (child: ChildProcess, order: object): Promise<{ value?: unknown; error?: string }> => {
  const response = reply(child)
  child.send(order)
  return response
}

const fetchText = (url: string): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        const pid = String(response.headers['x-pid'])
        resolve({ status: response.statusCode ?? 0, text, pid })
      })
    })
    request.on('error', reject)
    // A connection that a dying worker was being handed is not answered.
    request.setTimeout(2000, () => request.destroy(new Error('no response')))
  })

/** One response from each of two workers. */
const askEachWorker = (url: string): Promise<ReadonlyMap<string, ReceivedResponse>> => {
  const responses = new Map<string, ReceivedResponse>()
  return eventually(
    async () => {
      const response = await fetchText(url)
      responses.set(response.pid, response)
      if (responses.size < 2) throw new Error('only one worker answers')
      return responses
    },
    { withinMs: 30_000, everyMs: 5 },
  )
}

const texts = (responses: ReadonlyMap<string, ReceivedResponse>): string[] =>
  [...responses.values()].map(({ text }) => text)

afterAll(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
})

describe('a cluster of two workers', () => {
  let child: ChildProcess
  let url = ''

  beforeAll(async () => {
    child = start('127.0.0.1:0')
    url = ((await reply(child)).value as { public: string }).public
  }, 60_000)

  it('serves every change on both, replaces a dead worker with all that is held, adds up metrics', async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    const first = await askEachWorker(`${url}/first`)
    expect(texts(first)).toEqual(Array(2).fill('before anybody listened'))

    expect(await ask(child, { put: { later: 'applied' } })).toEqual({ value: { size: 2 } })
    const later = await askEachWorker(`${url}/later`)
    expect(texts(later)).toEqual(['applied', 'applied'])

    await ask(child, { metrics: true })
    await expect(fetchText(`${url}/crash`)).rejects.toThrow()
    const after = await askEachWorker(`${url}/later`)
    expect(texts(after)).toEqual(['applied', 'applied'])
    expect([...after.keys()].sort()).not.toEqual([...later.keys()].sort())

    const before = first.size + later.size + after.size
    const { value } = await ask(child, { metrics: true })
    const counted = /svc_gateway_requests_total\{[^}]*status="2xx"\} (\d+)/.exec(String(value))
    expect(Number(counted?.[1])).toBeGreaterThanOrEqual(before)
  }, 60_000)

  it('refuses a change that no worker can apply, and keeps nothing of it', async () => {
    const { error } = await ask(child, { put: { bad: 'x' }, remove: ['poison'] })
    expect(error).toContain('no serving process could apply the change: poisoned')
    await expect(fetchText(`${url}/crash`)).rejects.toThrow()
    const responses = await askEachWorker(`${url}/bad`)
    expect([...responses.values()].map(({ status }) => status)).toEqual([404, 404])
  }, 60_000)

  it('kills a worker that hangs, and answers all the same', async () => {
    const before = await askEachWorker(`${url}/first`)
    const order = { remove: ['hang'], put: { after: 'yes' }, isUnanswered: true }
    expect((await ask(child, order)).error).toBeUndefined()
    const after = await askEachWorker(`${url}/after`)
    expect(texts(after)).toEqual(['yes', 'yes'])
    expect([...after.keys()].filter((pid) => before.has(pid))).toEqual([])
  }, 60_000)

  it('says which address is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const other = start(`127.0.0.1:${port}`)
    let line = ''
    other.stderr?.setEncoding('utf8').on('data', (text: string) => (line += text))
    // Not `exit`: its last line may not have been read then.
    expect(await once(other, 'close')).toEqual([2, null])
    expect(line).toContain(`--public 127.0.0.1:${port}: the address is already in use`)
    taken.close()
  }, 60_000)

  // The last: it ends the cluster.
  it('ends in order', async () => {
    // Its head is there: a worker has it.
    const slow = await fetch(`${url}/slow`, { headers: { connection: 'close' } })
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect([slow.status, await slow.text()]).toEqual([404, 'nothing'])
    expect(await ended).toEqual([0, null])
  }, 60_000)
})
