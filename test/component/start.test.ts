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
process.stdout.write = (text) => {
  if (!String(text).includes('"listening"')) return write(text)
  write(JSON.stringify({ files, builtin: process.moduleLoadList }))
  process.exit(0)
}
`)}`

interface Loaded {
  readonly files: readonly string[]
  readonly builtin: readonly string[]
}

const start = (): Loaded => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', LISTENER, MAIN, '--public=127.0.0.1:0', '--management=127.0.0.1:0'],
    { env: programEnvironment(), encoding: 'utf8', timeout: 60_000 },
  )
  if (!stdout.startsWith('{')) throw new Error(stderr + stdout)
  return JSON.parse(stdout) as Loaded
}

const packageOf = (url: string): string | undefined =>
  /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]

it('a gateway listens before it loads what only some requests and settings need', () => {
  const { files, builtin } = start()
  const packages = new Set(files.flatMap((url) => packageOf(url) ?? []))
  expect([...packages].toSorted()).toEqual(ALLOWED)
  // fetch and WebSocket of Node itself: 15 MB.
  expect(builtin.filter((name) => name.includes('internal/deps/undici'))).toEqual([])
  // 933 in the version that loaded all of the above.
  expect(files.length).toBeGreaterThan(300)
  expect(files.length).toBeLessThan(MOST_FILES)
})

const MOST_FILES = 650

const ALLOWED: readonly string[] = [
  '@pinojs/redact',
  'atomic-sleep',
  'cookie',
  'cookie-parser',
  'cookie-signature',
  'on-exit-leak-free',
  'pino',
  'pino-std-serializers',
  'quick-format-unescaped',
  'safe-stable-stringify',
  'sonic-boom',
  'thread-stream',
]
