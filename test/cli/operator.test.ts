// Tests the commands of `svc` that ask an operator as well as a gateway, against real ones: an operator of files with a
// gateway that serves, and one that is away.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type OperatorProcess, startOperator } from '../component/kubernetes/operator-process.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { aSpecification } from '../support/resources.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { svc } from './run-svc.ts'

const PATHS = { '/admin': { get: { action: { type: 'static', body: 1 } } } }
const DOCUMENT = aSpecification('admin', {
  host: '_',
  versions: { v1: { base_path: '/v1', security: { type: 'basic' }, paths: PATHS } },
})
const MANIFESTS = [
  { kind: 'Realm', metadata: { name: 'shop' }, spec: { uri: 'com.shop' } },
  { kind: 'ApiSpecification', metadata: { name: 'admin' }, spec: { document: DOCUMENT } },
].map((each) => ({ apiVersion: 'gateway.svc.dev/v1alpha1', ...each }))

let gateway: GatewayProcess
let away: string
let operator: OperatorProcess
let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
  for (const each of MANIFESTS)
    await writeFile(join(directory.path, `${each.kind}.json`), JSON.stringify(each))
  gateway = await startGateway({ flags: ['--managed', 'svc-operator'] })
  away = `127.0.0.1:${await freePort()}`
  operator = await startOperator([
    '--manifests',
    directory.path,
    '--status',
    '127.0.0.1:0',
    '--data-planes',
    `${gateway.management},http://${away}`,
  ])
  await eventually(async () => {
    const { status } = await request(`${gateway.public}/v1/admin`)
    if (status !== 401) throw new Error(`it is ${status}, not served yet`)
  })
})

afterAll(async () => {
  await operator.stop()
  await gateway.stop()
  await directory[Symbol.asyncDispose]()
})

describe('svc why', () => {
  it('has of an operator what its gateways keep, with their names, and names those that are away', async () => {
    const { headers } = await request(`${gateway.public}/v1/admin`)
    const id = String(headers['x-request-id'])
    const ofGateway = await svc(['why', '-o', 'json', id, gateway.management])
    const ofOperator = await svc(['why', '-o', 'json', id, operator.url])
    const decisions = JSON.parse(ofGateway.stdout) as readonly object[]
    expect(decisions).toMatchObject([{ id, status: 401, code: 'svc.error.unauthorized' }])
    expect(ofOperator).toMatchObject({
      code: 0,
      stderr: `svc why: the operator has no response from ${away}\n`,
    })
    expect(JSON.parse(ofOperator.stdout)).toEqual(
      decisions.map((each) => ({ ...each, gateway: new URL(gateway.management).host })),
    )
  })

  it('says that nothing is kept, and how many gateways have said so', async () => {
    const { code, stdout, stderr } = await svc(['why', 'no-such-id', operator.url])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `svc why: ${operator.url}: it answered 404 svc.error.not_found: 1 of 2 gateways have answered, and none keeps a decision for this request id\n`,
    )
  })
})

it.each([['why', 'some-id'], ['routes'], ['explain', 'GET', 'http://a.test/v1/admin']])(
  'svc %s says what a replica that does not lead says',
  async (...argv) => {
    const message = 'this replica is a standby: pod-1 leads'
    const standby = createServer((_, response) => {
      response.writeHead(503).end(JSON.stringify({ code: 'svc.error.overloaded', message }))
    })
    await once(standby.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(standby.address() as AddressInfo).port}`
    const { stdout, stderr } = await svc([...argv, url])
    standby.close()
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
  },
)

it('svc routes and svc explain say of an operator what they say of its gateway', async () => {
  for (const argv of [['routes'], ['explain', 'GET', 'http://a.test/v1/admin']]) {
    const ofGateway = await svc([...argv, gateway.management])
    expect(ofGateway.stdout).toContain('/v1/admin')
    expect(await svc([...argv, operator.url])).toEqual(ofGateway)
  }
})
