// Every request that an example tells its reader to send is sent, as it stands there, to a playground of
// its own; the response must be the one that stands below it.

import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import { isReady } from '../../cli/serve/status-view.ts'
import { eventually } from '../support/eventually.ts'
import { openRequest, request } from '../support/http-request.ts'
import { runValidateOnExamples } from './validate-examples.ts'
import {
  canSend,
  EXAMPLES,
  exampleFiles,
  holds,
  send,
  type TryLine,
  tryLinesOf,
} from './try-lines.ts'

let playground: Playground

beforeAll(async () => {
  const onLine = (): void => undefined
  playground = await startPlayground({ ports: ANY_PORTS, examples: EXAMPLES, onLine })
})

afterAll(() => playground.stop())

const lines: readonly TryLine[] = exampleFiles().flatMap(tryLinesOf)

describe('the examples', () => {
  it('are all served', async () => {
    const status = await playground.status()
    expect(status?.resources.filter((resource) => !isReady(resource))).toEqual([])
    expect(status?.notes).toEqual([])
    expect(status?.resources.length).toBeGreaterThan(exampleFiles().length)
  })

  it('are validated good by the validate command, without a warning', async () => {
    expect(await runValidateOnExamples()).toEqual({ exitCode: 0, diagnostics: '' })
  })

  it.each(exampleFiles().filter((file) => file !== 'realm.yaml'))(
    '%s tells what to send and what comes back',
    (file) => {
      const tries = tryLinesOf(file)
      expect(tries.length).toBeGreaterThan(0)
      for (const { expected } of tries) expect(expected).toMatch(/^[1-5]\d\d/)
    },
  )

  it.each([
    ['another status', { status: 200, text: 'a b' }, '201 … a'],
    ['another order', { status: 200, text: 'a b' }, '200 … b … a'],
    ['a part that is not there', { status: 200, text: 'a b' }, '200 … c'],
  ])('%s does not pass', (_name, response, expected) => {
    expect(holds(response, expected)).toBe(false)
  })
})

it('14-publish.yaml: who listens in a second terminal hears what is sent', async () => {
  const room = `${playground.urls.public}/chat/rooms/tea`
  const stream = await openRequest(room)
  try {
    const first = once(stream, 'data')
    const json = { from: 'Ada', text: 'Hi' }
    expect((await request(room, { method: 'POST', json })).status).toBe(202)
    expect(String((await first)[0])).toContain('data: {"from":"Ada","text":"Hi"}')
  } finally {
    stream.destroy()
  }
})

/** `expected` where the response is as it says, else the whole response. */
const outputOf = async ({ command, expected }: TryLine): Promise<string> => {
  const { host } = new URL(playground.urls.public)
  const response = await send(command.replaceAll('127.0.0.1:18080', host))
  return holds(response, expected) ? expected : response.text
}

const isForSeconds = ({ command }: TryLine): boolean => command.includes('--max-time')

if (canSend()) {
  describe('what a reader sends', () => {
    // On a busy machine its seconds may be over before an event has come: then the reader sends it again.
    it.concurrent.each(lines.filter(isForSeconds))('$file: $command', async (line) => {
      await eventually(async () => {
        expect(await outputOf(line)).toBe(line.expected)
      })
    })

    it.each(lines.filter((line) => !isForSeconds(line)))('$file: $command', async (line) => {
      expect(await outputOf(line)).toBe(line.expected)
    })
  })
} else {
  process.stderr.write('skipped: there is no curl to try the examples with\n')
}
