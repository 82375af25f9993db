import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'

interface Answer {
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
      env: {},
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
  const answer = reply(child)
  child.send(order)
  return answer
}

const fetchText = (url: string): Promise<Answer> =>
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
    // A connection that a dying worker was being handed is answered by nobody.
    request.setTimeout(2000, () => request.destroy(new Error('no answer')))
  })

/** One answer from each of two workers. */
const askEachWorker = async (url: string): Promise<ReadonlyMap<string, Answer>> => {
  const answers = new Map<string, Answer>()
  for (let tries = 0; answers.size < 2 && tries < 200; tries++) {
    const answer = await fetchText(url).catch(() => undefined)
    if (answer !== undefined) answers.set(answer.pid, answer)
    if (answers.size < 2) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return answers
}

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
})

describe('a cluster of two workers', () => {
  it('serves every change on both, replaces a dead worker with all that is held, adds up metrics, ends in order', async () => {
    const child = start('127.0.0.1:0')
    const urls = (await reply(child)).value as { public: string }
    expect(urls.public).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)

    const first = await askEachWorker(`${urls.public}/first`)
    expect([...first.values()].map(({ text }) => text)).toEqual(
      Array(2).fill('before anybody listened'),
    )

    expect(await ask(child, { put: { later: 'applied' } })).toEqual({ value: { size: 2 } })
    const later = await askEachWorker(`${urls.public}/later`)
    expect([...later.values()].map(({ text }) => text)).toEqual(['applied', 'applied'])

    await ask(child, { metrics: true })
    await expect(fetchText(`${urls.public}/crash`)).rejects.toThrow()
    const after = await askEachWorker(`${urls.public}/later`)
    expect([...after.values()].map(({ text }) => text)).toEqual(['applied', 'applied'])
    expect([...after.keys()].sort()).not.toEqual([...later.keys()].sort())

    const before = first.size + later.size + after.size
    const { value } = await ask(child, { metrics: true })
    const counted = /svc_gateway_requests_total\{[^}]*status="200"\} (\d+)/.exec(String(value))
    expect(Number(counted?.[1])).toBeGreaterThanOrEqual(before)

    // Its head is there: a worker has it.
    const slow = await fetch(`${urls.public}/slow`, { headers: { connection: 'close' } })
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect([slow.status, await slow.text()]).toEqual([404, 'nothing'])
    expect(await ended).toEqual([0, null])
  }, 60_000)

  it('refuses a change that no worker can apply, and keeps nothing of it', async () => {
    const child = start('127.0.0.1:0')
    const urls = (await reply(child)).value as { public: string }
    const { error } = await ask(child, { put: { bad: 'x' }, remove: ['poison'] })
    expect(error).toContain('no serving process could apply the change: poisoned')
    await expect(fetchText(`${urls.public}/crash`)).rejects.toThrow()
    const answers = await askEachWorker(`${urls.public}/bad`)
    expect([...answers.values()].map(({ status }) => status)).toEqual([404, 404])
  }, 60_000)

  it('kills a worker that hangs, and answers all the same', async () => {
    const child = start('127.0.0.1:0')
    const urls = (await reply(child)).value as { public: string }
    const before = await askEachWorker(`${urls.public}/first`)
    expect((await ask(child, { remove: ['hang'], put: { after: 'yes' } })).error).toBeUndefined()
    const after = await askEachWorker(`${urls.public}/first`)
    expect(after.size).toBe(2)
    expect([...after.keys()].filter((pid) => before.has(pid))).toEqual([])
  }, 60_000)

  it('says which address is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const child = start(`127.0.0.1:${port}`)
    let line = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (line += text))
    expect(await once(child, 'exit')).toEqual([2, null])
    expect(line).toContain(`--public 127.0.0.1:${port}: the address is already in use`)
    taken.close()
  }, 60_000)
})
