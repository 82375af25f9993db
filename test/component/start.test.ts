import { expect, it } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { programEnvironment } from '../support/program-environment.ts'

const MAIN = join(import.meta.dirname, '../../dataplane/main.ts')

/** Ends the gateway once it listens, with the modules that it has loaded: Node's own, and files. */
const LISTENER = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const files = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.push(url)
    return next(url, context)
  },
})
const write = process.stdout.write.bind(process.stdout)
const report = () => write(JSON.stringify({ files, builtin: process.moduleLoadList }) + '\\n')
const send = process.send?.bind(process)
const isWorker = send !== undefined
if (isWorker)
  process.send = (message, ...more) => {
    if (message.kind === 'done' && message.addresses !== undefined) report()
    return send(message, ...more)
  }
process.stdout.write = (text) => {
  if (!String(text).includes('"listening"')) return write(text)
  if (!isWorker) report()
  process.exit(0)
}
`)}`

interface Loaded {
  readonly files: readonly string[]
  readonly builtin: readonly string[]
}

/** The processes in the order in which they listen: the primary is the last. */
const start = (...flags: readonly string[]): readonly Loaded[] => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', LISTENER, MAIN, '--public=127.0.0.1:0', '--management=127.0.0.1:0', ...flags],
    { env: programEnvironment(), encoding: 'utf8', timeout: 60_000 },
  )
  if (!stdout.startsWith('{')) throw new Error(stderr + stdout)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Loaded)
}

const packagesOf = ({ files }: Loaded): readonly string[] =>
  [...new Set(files.flatMap((url) => packageOf(url) ?? []))].toSorted()

const packageOf = (url: string): string | undefined =>
  /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]

it('a gateway listens before it loads what only some requests and settings need', () => {
  const [loaded = NOTHING] = start()
  const { files, builtin } = loaded
  expect(packagesOf(loaded)).toEqual(ALLOWED)
  // fetch and WebSocket of Node itself: 15 MB.
  expect(builtin.filter((name) => name.includes('internal/deps/undici'))).toEqual([])
  // 933 in the version that loaded all of the above.
  expect(files.length).toBeGreaterThan(300)
  expect(files.length).toBeLessThan(MOST_FILES)
})

it('so does every process of a cluster', () => {
  const processes = start('--processes=2')
  expect(processes).toHaveLength(3)
  for (const loaded of processes)
    expect(packagesOf(loaded).filter((name) => !ALLOWED.includes(name))).toEqual([])
})

const NOTHING: Loaded = { files: [], builtin: [] }

/** 753 with JSON Schemas, OpenAPI descriptions, rate limits and signed requests: only what most requests need should come to it. */
const MOST_FILES = 760

const ALLOWED: readonly string[] = [
  '@pinojs/redact',
  'atomic-sleep',
  'on-exit-leak-free',
  'pino',
  'pino-std-serializers',
  'quick-format-unescaped',
  'safe-stable-stringify',
  'sonic-boom',
  'thread-stream',
]
