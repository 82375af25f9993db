// docs/migration.md, line by line: a gateway loaded by hand, imported, applied to a real API server, served by an
// operator and another gateway. And everything that `import` writes of the examples is taken by the API server.

import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { startGateway } from '../../support/gateway-process.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aSpecification } from '../../support/resources.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { Home } from './home.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGE = await readFile(join(ROOT, 'docs/migration.md'), 'utf8')
const LINES = [...PAGE.matchAll(/^```\n(.*?)\n```$/gms)].flatMap(([, text = '']) =>
  text.split('\n'),
)
const LONG_MS = 180_000

const sh = (line: string, cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const text = line
      .replace(/^svc /, `'${process.execPath}' '${ROOT}/cli/main.ts' `)
      .replace(/^svc-operator /, `'${process.execPath}' '${ROOT}/operator/main.ts' `)
    execFile('sh', ['-c', text], { cwd, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${line}: ${stderr}`))
    })
  })

const post = async (url: string, body: object): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== 204) throw new Error(await response.text())
}

const REALM = {
  uri: 'com.example.shop',
  callback_origins: ['https://hooks.example.com'],
  callback_secret: 'tell-nobody',
}

const document = (id: string, host: string, more: object = {}): object => {
  const body = { text: 'Hello {{request.bindings.name}}', [id]: null }
  const paths = { '/hello/:name': { get: { action: { type: 'static', body } } } }
  const versions = { v1: { base_path: '/v1', paths } }
  return aSpecification(id, { host, realm_uri: REALM.uri, versions, ...more })
}

await describeWithKubernetes('docs/migration.md', (plane) => {
  const run = async (line: string, cwd: string): Promise<string> => {
    if (!line.startsWith('kubectl ')) return sh(line, cwd)
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) =>
      (quoted ?? plain).replace(/^(--from-file=[^=]*=)/, `$1${cwd}/`),
    )
    const at = args.indexOf('-f')
    if (at !== -1) args[at + 1] = join(cwd, args[at + 1] ?? '')
    const { code, stdout, stderr } = await plane().kubectl(args.slice(1))
    if (code !== 0) throw new Error(`${line}: ${stderr}`)
    return stdout
  }

  it(
    'every line of it, from the old gateway to the new',
    async () => {
      await using dir = await makeTempDir()
      await using old = await startGateway()
      await post(`${old.management}/realms`, REALM)
      await post(
        `${old.management}/api_specs`,
        document('com.example.shop.hello', 'shop.example.com'),
      )
      await post(`${old.management}/api_specs`, document('any', '_', { meta: { n: null } }))
      const meta = { text: 'x'.repeat(1_200_000) }
      await post(`${old.management}/api_specs`, document('large', 'large.example.com', { meta }))
      await using home = await Home.open(plane())
      await using operator = await home.startOperator()
      const gateway = await home.startGatewayPod({ name: 'gateway' })
      expect(operator.pid).toBeGreaterThan(0)

      const responses = new Map<string, string>()
      for (const line of LINES) {
        const here = line
          .replace('http://127.0.0.1:18081', old.management)
          .replace('$OLD', old.public)
          .replace('$NEW', gateway.gateway.public)
        responses.set(line, await run(here, dir.path))
      }
      const asked = [...responses].filter(([line]) => line.startsWith('curl'))
      expect(asked.map(([, response]) => JSON.parse(response) as unknown)).toEqual([
        { text: 'Hello Ada', 'com.example.shop.hello': null },
        { text: 'Hello Ada', 'com.example.shop.hello': null },
      ])
      for (const host of ['large.example.com', 'anything.test'])
        expect(await gateway.get(host, '/v1/hello/Ada')).toMatchObject({ status: 200 })
      for (const id of ['com.example.shop.hello', 'any', 'large']) {
        const path = `/api_specs/${id}?view=source`
        const [a, b] = await Promise.all(
          [old, gateway.gateway].map(async (each) =>
            (await fetch(`${each.management}${path}`)).text(),
          ),
        )
        expect(b).toBe(a)
      }
    },
    LONG_MS,
  )

  it(
    'the examples are taken, as they are imported',
    async () => {
      await using dir = await makeTempDir()
      await using gateway = await startGateway({ flags: ['--managed', 'svc-operator'] })
      const at = `--data-planes ${gateway.management} --status off --log-level error`
      // Routers and providers are away: not all of it is Ready, and all of it is loaded.
      await sh(`svc-operator --manifests '${ROOT}/examples' --once ${at} || true`, dir.path)
      await sh(`svc import ${gateway.management} --namespace default --dir out`, dir.path)
      const files = await readdir(join(dir.path, 'out'))
      expect(files.length).toBeGreaterThan(15)
      const { code, stdout, stderr } = await plane().kubectl([
        'apply',
        '--server-side',
        '--dry-run=server',
        '-f',
        join(dir.path, 'out'),
      ])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout.trim().split('\n')).toHaveLength(files.length)
    },
    LONG_MS,
  )
})
