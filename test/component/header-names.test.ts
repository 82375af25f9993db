// Whatever a client sends, upstreams in Node, Go and Python read the header that the document sets, and nothing else.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { addressOf, openRawClient, type RawClient } from '../support/raw-client.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import {
  clientLines,
  type Line,
  SETTING_USER,
  VARIABLES,
} from '../support/header-readers/client-lines.ts'
import {
  type HeaderReader,
  programAvailable,
  startGoReader,
  startNodeReader,
  startPythonReader,
} from '../support/header-readers/start-reader.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { api, forwards, load } from './gateway-client.ts'

/** Building with Go's cache cold takes a minute. */
const START_MS = 300_000

const readsTheDocuments = (start: () => Promise<HeaderReader>): void => {
  let gateway: GatewayProcess
  let reader: HeaderReader
  let client: RawClient

  beforeAll(async () => {
    reader = await start()
    gateway = await startGateway()
    const paths = SETTING_USER.map(([headers], index) => [
      `/${index}/:user`,
      forwards(reader.origin, '/', { headers }),
    ])
    await load(gateway, {
      ...api('names', Object.fromEntries(paths) as never),
      variables: VARIABLES,
    })
    client = await openRawClient(addressOf(gateway.public), START_MS)
  }, START_MS)

  afterAll(async () => {
    await client[Symbol.asyncDispose]()
    await gateway.stop()
    await reader.stop()
  })

  const read = async (index: number, lines: readonly Line[]): Promise<unknown> => {
    const sent = [['Host', 'a'], ...lines].map((line) => `${line.join(': ')}\r\n`)
    client.send([Buffer.from(`GET /names/${index}/ada HTTP/1.1\r\n${sent.join('')}\r\n`, 'latin1')])
    const { status, body } = await client.response()
    return status === 200 ? (JSON.parse(body.toString()) as unknown) : status
  }

  it.each(SETTING_USER.map(([headers], index) => [headers, index] as const))(
    'that the document sets with %j',
    async (_, index) => {
      await fc.assert(
        fc.asyncProperty(clientLines, async (lines) => {
          const values = await read(index, lines)
          expect(new Set(values as readonly unknown[])).toEqual(new Set(['ada']))
        }),
        { numRuns: 25 },
      )
    },
  )
}

describe('an upstream in Node reads the header', () => {
  readsTheDocuments(startNodeReader)
})

describeWhenAvailable(
  'an upstream in Go reads the header',
  programAvailable('go', ['version']),
  () => {
    readsTheDocuments(startGoReader)
  },
)

describeWhenAvailable(
  'an upstream in Python reads the header',
  programAvailable('python3', ['--version']),
  () => {
    readsTheDocuments(startPythonReader)
  },
)
