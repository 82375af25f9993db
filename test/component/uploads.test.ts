// Bodies of any type through a whole gateway, from the clients that people have: files by curl, a SOAP call, a merge patch,
// and forms that a browser sends, with a password of the browser from another site too.

import { execFile, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import type { Availability } from '../support/availability.ts'
import { chromiumAvailability, launchChromium } from '../support/chromium.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { post, REALM } from './gateway-client.ts'
import { residentBytes } from './resident-bytes.ts'

const FILE_BYTES = 50_000_000
const PATIENCE_MS = 120_000
/** More than 200 MB of bodies may add to a gateway that keeps none of them. */
const MOST_ADDED_BYTES = 100_000_000

interface Seen {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  /** The first and the last of the body. */
  readonly start: string
  readonly end: string
  readonly sha256: string
}

const ENVELOPE =
  '<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"/>'
const XML = 'text/xml; charset="utf-8"; action=Orders'
/** It is the upstream's, and passes as it is. */
const REPLY = { type: 'text/xml;charset=UTF-8', body: '<s:Envelope>é</s:Envelope>' }

const seen: Seen[] = []

/** Reads what comes and keeps none of it. */
const serveUploads = (): Server =>
  createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const hash = createHash('sha256')
    let bytes = 0
    let start = ''
    let end = ''
    request.on('data', (chunk: Buffer) => {
      hash.update(chunk)
      bytes += chunk.length
      if (start.length < 400) start += chunk.toString('latin1', 0, 400)
      end = (end + chunk.toString('latin1', Math.max(0, chunk.length - 200))).slice(-200)
    })
    request.on('end', () => {
      const { method, headers } = request
      seen.push({ method, headers, bytes, start, end, sha256: hash.digest('hex') })
      response.writeHead(200, { 'content-type': REPLY.type }).end(REPLY.body)
    })
  })

const PAGE = `<form method="post" enctype="ENCTYPE" action="ACTION"><input name="note" value="hello"><input type="file" name="file"></form>`

let upstream: Server
let gateway: GatewayProcess
let dir: TempDir
let file: string
let sha256: string

/** `hash` of the password `wonderland` (docs/security/schemes.md). */
const ALICE = {
  username: 'alice',
  password_hash:
    '$scrypt$ln=14,r=8,p=1$TFyn0r5DOc3SbJW+ja7IxA$hGz3JmuyETAUZfFCITUKwqvhsYtZM91En3i6ZgMAjD8',
}

beforeAll(async () => {
  dir = await makeTempDir()
  file = join(dir.path, 'picture.png')
  const content = randomBytes(FILE_BYTES)
  sha256 = createHash('sha256').update(content).digest('hex')
  await writeFile(file, content)
  upstream = serveUploads()
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const host = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  gateway = await startGateway()
  const forward = { action: { type: 'forward', host, timeout: PATIENCE_MS } }
  const page = (enctype: string, action: string) => ({
    provides: ['text/html'],
    get: {
      action: { type: 'static', body: PAGE.replace('ENCTYPE', enctype).replace('ACTION', action) },
      response: { on_result: { headers: { 'content-type': 'text/html; charset=utf-8' } } },
    },
  })
  const document = {
    id: 'uploads',
    host: '_',
    realm_uri: REALM,
    defaults: { body_max_bytes: 2 * FILE_BYTES },
    versions: {
      v1: {
        base_path: '/u',
        paths: {
          '/any': { post: forward, put: forward, patch: forward },
          '/secret': {
            security: { type: 'basic' },
            accepts: ['multipart/form-data'],
            post: forward,
          },
          '/page': page('multipart/form-data', '/u/any'),
          '/plain': page('text/plain', '/u/any'),
          '/secret-page': page('multipart/form-data', '/u/secret'),
          '/elsewhere': page('multipart/form-data', `${gateway.public}/u/secret`),
        },
      },
    },
  }
  for (const [path, json] of [
    ['/realms', { uri: REALM, users: [ALICE] }],
    ['/api_specs', document],
  ] as const) {
    const { status, text } = await post(gateway, path, json)
    if (status !== 204) throw new Error(`expected 204, got ${status}: ${text}`)
  }
}, PATIENCE_MS)

afterAll(async () => {
  await gateway.stop()
  upstream.closeAllConnections()
  await new Promise((resolve) => upstream.close(resolve))
  await dir[Symbol.asyncDispose]()
})

beforeEach(() => {
  seen.length = 0
})

/** The status that curl got, and its body. */
const curl = async (path: string, ...options: readonly string[]): Promise<string> => {
  const limits = ['--silent', '--show-error', '--max-time', '100', '--write-out', ' %{http_code}']
  const { stdout } = await promisify(execFile)('curl', [
    ...limits,
    ...options,
    `${gateway.public}/u/${path}`,
  ])
  return stdout
}

const CURL: Availability =
  spawnSync('curl', ['--version']).status === 0
    ? { available: true }
    : { available: false, why: 'there is no curl' }

const PASSED = `${REPLY.body} 200`

describeWhenAvailable('curl', CURL, () => {
  it(
    'sends a form with a file of 50 MB, whose boundary stays',
    async () => {
      expect(await curl('any', '-F', 'note=hello', '-F', `file=@${file};type=image/png`)).toBe(
        PASSED,
      )
      const [{ headers, bytes, start, end } = {} as Seen] = seen
      const type = headers['content-type'] ?? ''
      const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(type)?.[1] ?? 'none'
      expect(start).toMatch(new RegExp(`^--${boundary}\r\n`))
      expect(start).toContain('Content-Type: image/png')
      expect(end.endsWith(`\r\n--${boundary}--\r\n`)).toBe(true)
      expect(headers['content-length']).toBe(String(bytes))
      expect(bytes).toBeGreaterThan(FILE_BYTES)
    },
    PATIENCE_MS,
  )

  it.each([
    ['with a length', []],
    ['in chunks', ['-H', 'transfer-encoding: chunked']],
  ])(
    'sends files of 50 MB %s, four at a time, of which the gateway keeps nothing',
    async (_, more) => {
      const send = (): Promise<string> =>
        curl(
          'any',
          '-X',
          'PUT',
          '-H',
          'content-type: image/png',
          ...more,
          '--data-binary',
          `@${file}`,
        )
      await send()
      const before = await residentBytes(gateway.pid)
      let most = before
      let isDone = false
      const watch = async (): Promise<void> => {
        while (!isDone) {
          most = Math.max(most, await residentBytes(gateway.pid))
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      const watching = watch()
      const responses = await Promise.all([send(), send(), send(), send()])
      isDone = true
      await watching
      expect(responses).toEqual([PASSED, PASSED, PASSED, PASSED])
      expect(seen.map((each) => each.sha256)).toEqual(Array.from({ length: 5 }, () => sha256))
      expect(most - before).toBeLessThan(MOST_ADDED_BYTES)
    },
    PATIENCE_MS,
  )

  it.each<[string, string, readonly string[], string]>([
    ['a SOAP call', 'POST', ['-H', 'SOAPAction: "urn:orders"', '-H', `content-type: ${XML}`], XML],
    [
      'a merge patch',
      'PATCH',
      ['-H', 'content-type: application/merge-patch+json'],
      'application/merge-patch+json',
    ],
    ['lines of JSON', 'POST', ['-H', 'content-type: application/x-ndjson'], 'application/x-ndjson'],
    [
      'an odd charset',
      'POST',
      ['-H', 'content-type: text/plain; charset=KOI8-R;x'],
      'text/plain; charset=KOI8-R;x',
    ],
    [
      'a type in capitals',
      'PUT',
      ['-H', 'content-type: Application/VND.api+JSON'],
      'Application/VND.api+JSON',
    ],
  ])('sends %s, whose type and bytes pass', async (_, method, options, type) => {
    expect(await curl('any', '-X', method, ...options, '--data-binary', ENVELOPE)).toBe(PASSED)
    expect(seen).toMatchObject([
      {
        method,
        headers: { 'content-type': type },
        sha256: createHash('sha256').update(ENVELOPE).digest('hex'),
      },
    ])
  })
})

describeWhenAvailable('a browser', chromiumAvailability(), () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launchChromium()
  }, PATIENCE_MS)

  afterAll(async () => {
    await browser.close()
  })

  /** Opens the page, chooses a file and submits; gives the status of what came. */
  const submit = async (url: string): Promise<number | undefined> => {
    const httpCredentials = { username: 'alice', password: 'wonderland' }
    await using context = await browser.newContext({ httpCredentials })
    const page = await context.newPage()
    await page.goto(url)
    const small = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('of the file') }
    await page.locator('input[type=file]').setInputFiles(small)
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.status() !== 401,
    )
    await page.evaluate('document.forms[0].submit()')
    return (await answered).status()
  }

  const elsewhere = (): string => gateway.public.replace('127.0.0.1', 'localhost')

  it(
    'sends a form with a file',
    async () => {
      expect(await submit(`${gateway.public}/u/page`)).toBe(200)
      expect(seen).toMatchObject([
        {
          headers: {
            'content-type': expect.stringMatching(/^multipart\/form-data; boundary=----/),
          },
        },
      ])
      expect(seen[0]?.start).toContain('of the file')
    },
    PATIENCE_MS,
  )

  it(
    'sends a form as plain text',
    async () => {
      expect(await submit(`${gateway.public}/u/plain`)).toBe(200)
      expect(seen).toMatchObject([{ headers: { 'content-type': 'text/plain' } }])
    },
    PATIENCE_MS,
  )

  it(
    'sends one with its password from a page of the same site, and is refused from another',
    async () => {
      expect(await submit(`${gateway.public}/u/secret-page`)).toBe(200)
      expect(seen).toHaveLength(1)
      expect(await submit(`${elsewhere()}/u/elsewhere`)).toBe(403)
      expect(seen).toHaveLength(1)
    },
    PATIENCE_MS,
  )
})
