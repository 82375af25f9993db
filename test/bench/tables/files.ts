// The table of files: how many files and functions of the product one request, one load and one edited manifest run,
// that is, how much one must know to follow them. The programs are those of the playground.

import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import { pathToFileURL } from 'node:url'
import { ANY_PORTS } from '../../../dev/ports.ts'
import { type Playground, startPlayground } from '../../../dev/playground.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { Bench } from '../bench.ts'
import { countExecuted, coverageSocket, DIRECTORY_VARIABLE, type Flow } from '../coverage.ts'
import { manyDocument } from '../documents.ts'
import { atMost, type Section, whole } from '../section.ts'

interface Row {
  readonly name: string
  readonly bound: number
  readonly flow: Flow
}

export const measureFiles = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  env[DIRECTORY_VARIABLE] = directory.path
  env['NODE_OPTIONS'] = `--import=${pathToFileURL(PRELOAD).href}`
  await using playground = await startPlayground({
    ports: ANY_PORTS,
    examples: join(ROOT, 'examples'),
    onLine: () => undefined,
  })
  using connection = openConnection(playground)
  const counted = []
  for (const row of rowsOf(playground, connection, directory.path)) {
    bench.progress(`files: ${row.name}`)
    counted.push({ ...row, ...(await countExecuted(row.flow)) })
  }
  return {
    title: 'Files executed, warm',
    method:
      'Files and functions of the product that run each of five times, by V8’s precise coverage, less those that run at rest (the last row: of the operator, the others: of the gateway).',
    tables: [
      {
        head: ['', 'files', 'functions'],
        rows: counted.map(({ name, files, functions }) => [
          name,
          whole(files.length),
          whole(functions),
        ]),
      },
    ],
    targets: counted.map(({ name, bound, files }) =>
      atMost(name, { bound, measured: files.length, unit: ' files', digits: 0 }),
    ),
    remarks: counted.map(({ name, files }) => `${name}: ${files.join(', ')}`),
  }
}

const ROOT = join(import.meta.dirname, '../../..')
const PRELOAD = join(ROOT, 'test/bench/coverage-preload.ts')

const SETTLE_MS = 50
/** Statuses are written after the gateways have reported. */
const SETTLE_OPERATOR_MS = 300

const rowsOf = (
  { manifests }: Playground,
  { get, load }: Connection,
  directory: string,
): readonly Row[] => {
  const ofGateway = (name: string, bound: number, act: Flow['act']): Row => {
    const socket = coverageSocket(directory, 'dataplane/main.ts')
    return { name, bound, flow: { socket, act, settleMs: SETTLE_MS } }
  }
  let edits = 0
  const manifest = join(manifests.path, '01-static.yaml')
  const edit = async (): Promise<void> => {
    const text = await readFile(manifest, 'utf8')
    edits += 1
    await writeFile(
      manifest,
      text.replace(/message: .*/, () => `message: Hello ${edits}`),
    )
    while (!(await get('/static/hello')).includes(`Hello ${edits}`));
  }
  return [
    ofGateway('a static response', 20, () => get('/static/hello')),
    ofGateway('a response with expressions', 34, () => get('/expressions/hello/Ada')),
    ofGateway('a 404', 30, () => get('/nothing/here')),
    ofGateway('a forward', 56, () => get('/shop/orders/2')),
    ofGateway('a document loaded by hand', 80, load),
    {
      name: 'one edited manifest',
      bound: 120,
      flow: {
        socket: coverageSocket(directory, 'operator/main.ts'),
        act: edit,
        settleMs: SETTLE_OPERATOR_MS,
      },
    },
  ]
}

interface Connection extends Disposable {
  /** A GET of the public listener over one connection that stays open. */
  readonly get: (path: string) => Promise<string>
  readonly load: () => Promise<string>
}

const openConnection = ({ urls }: Playground): Connection => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = async (method: string, url: string, body?: string): Promise<string> => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const call = request(url, { method, agent, headers })
    call.end(body)
    const [response] = (await once(call, 'response')) as [AsyncIterable<Buffer>]
    let text = ''
    for await (const chunk of response) text += chunk.toString()
    return text
  }
  let loads = 0
  return {
    get: (path) => send('GET', `${urls.public}${path}`),
    load: () => {
      loads += 1
      return send('POST', `${urls.management}/api_specs`, JSON.stringify(manyDocument(loads % 2)))
    },
    [Symbol.dispose]: () => {
      agent.destroy()
    },
  }
}
