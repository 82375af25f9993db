// Tests `svc test --url` against a real server, and `svc mock`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { request } from '../support/http-request.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { svc } from './run-svc.ts'

const DOCUMENT = `id: com.example.orders
host: api.example.com
realm_uri: com.example
versions:
  v1:
    base_path: /v1
    paths:
      /orders/:id:
        get:
          action: {type: forward, host: 'http://orders:8080'}
          examples:
            found:
              request: {bindings: {id: 7}, headers: {x-a: 1}}
              given: {body: {id: 7}}
              expect: {status_code: 200, body: {id: 7}, sent: {url: of nobody}}
            as carol: {request: {bindings: {id: 7}, as: {authid: carol}}, expect: {status_code: 200}}
            inside: {request: {bindings: {id: 7}, address: 10.0.0.1}, expect: {status_code: 200}}
            over TLS: {request: {bindings: {id: 7}, scheme: https}, expect: {status_code: 200}}
        put:
          action: {type: forward, host: 'http://orders:8080'}
          examples:
            replaced: {request: {bindings: {id: 7}, body: {a: 1}}, given: {}, expect: {status_code: 201}}
`

const serve = async () => {
  const seen: string[] = []
  const server = createServer(({ method, url, headers }, response) => {
    seen.push(`${method ?? ''} ${url ?? ''} ${headers.host ?? ''} ${String(headers['x-a'])}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":7,"more":1}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await Promise.resolve()
    },
  }
}

describe('svc test --url', () => {
  it('sends those that read and have no caller, and says why others are not sent', async () => {
    await using gateway = await serve()
    const { code, stdout, stderr } = await svc(['test', '--url', gateway.url, '-'], {
      stdin: DOCUMENT,
    })
    expect(gateway.seen).toEqual(['GET /v1/orders/7 api.example.com 1'])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr.replaceAll(/<stdin>:\S+ /g, ''))
      .toBe(`not run: GET /v1/orders/:id 'as carol': it has a caller
not run: GET /v1/orders/:id 'inside': it has an address of a client
not run: GET /v1/orders/:id 'over TLS': it is sent by https
not run: PUT /v1/orders/:id 'replaced': it is sent by PUT, which --methods does not name
1 example: 1 passed, 0 failed; 4 not run
`)
  })

  it('sends other methods where they are named, and compares', async () => {
    await using gateway = await serve()
    const flags = ['--url', gateway.url, '--methods', 'PUT']
    const { code, stdout } = await svc(['test', ...flags, '-'], { stdin: DOCUMENT })
    expect(gateway.seen).toEqual(['PUT /v1/orders/7 api.example.com undefined'])
    expect(code).toBe(1)
    expect(stdout).toContain(
      'expect.status_code: expected (-), but came (+)\n    - 201\n    + 200\n',
    )
  })

  it('fails where there is no gateway', async () => {
    const { code, stdout } = await svc(['test', '--url', 'http://127.0.0.1:1', '-'], {
      stdin: DOCUMENT,
    })
    expect([code, stdout]).toEqual([1, expect.stringContaining('there is no response: ')])
  })

  it.each(['gateway', 'ftp://a.test'])('does not take %s', async (url) => {
    const { code, stderr } = await svc(['test', '--url', url, '-'], { stdin: DOCUMENT })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('svc test: --url takes the address'),
    ])
  })
})

describe('svc mock', () => {
  it('serves on loopback what the examples give', async () => {
    await using directory = await makeTempDir()
    const file = join(directory.path, 'a.yaml')
    await writeFile(file, DOCUMENT)
    const main = join(import.meta.dirname, '../../cli/main.ts')
    const program = spawn(process.execPath, [main, 'mock', '--port', '0', file], {
      env: programEnvironment({}),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = (await once(program.stdout, 'data')) as [Buffer]
      const [, url = ''] =
        /^(http:\/\/127\.0\.0\.1:\d+) \(documents: 1, examples: 5\)\n$/.exec(line.toString()) ?? []
      const response = await request(`${url}/v1/orders/7`)
      expect([response.status, response.json()]).toEqual([200, { id: 7 }])
    } finally {
      program.kill()
      await once(program, 'exit')
    }
  })

  it.each([
    [['mock'], '', 'name the files to serve'],
    [['mock', '-'], 'a: 1', 'there is no document in -'],
  ])('%j serves nothing', async (argv, stdin, words) => {
    const { code, stderr } = await svc(argv, { stdin })
    expect([code, stderr]).toEqual([2, expect.stringContaining(`svc mock: ${words}`)])
  })
})
