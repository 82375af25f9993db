// Statuses written to a real API server with our CRDs, as the operator's own account.

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../../operator/resource/own-types.ts'
import { readOfClass } from '../../../operator/source/read-object.ts'
import type { ResourceStatus } from '../../../operator/reconcile/status/status-registry.ts'
import type { ApiSpecificationResource } from '../../../operator/resource/resource.ts'
import { StatusWriter } from '../../../operator/status/kubernetes-status.ts'
import { createSilentLog, type Log } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { untilForbidden, userOf } from '../../support/kubernetes/access-review.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aStatus, type StatusOptions, statusOf } from '../../operator/status/resource-status.ts'
import { applyDefinitions, operatorApi } from './operator-api.ts'

const NAMESPACE = 'team'
const SPECS = `/apis/gateway.svc.dev/v1alpha1/namespaces/${NAMESPACE}/apispecifications`
const PATIENT = { withinMs: 30_000, everyMs: 30 }
const TEST_MS = 120_000
const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: 'gateway-system' }

const GOOD = ['Accepted=True', 'ResolvedRefs=True', 'Programmed=True', 'Ready=True']
const BAD = ['Accepted=False:Invalid:/spec/document: x', 'Stalled=True:Invalid:/spec/document: x']
const PROBLEM = { code: 'invalid_value', path: '/spec/document/host', message: 'no host' } as const

interface StatusOfObject {
  readonly metadata: {
    readonly uid: string
    readonly resourceVersion: string
    readonly generation: number
    readonly managedFields: readonly { readonly manager: string; readonly subresource?: string }[]
  }
  readonly status: {
    readonly observedGeneration?: number
    readonly conditions: readonly { readonly type: string; readonly status: string }[]
    readonly errors?: readonly unknown[]
    readonly programmedDigest?: string
  }
}

await describeWithKubernetes('statuses in an API server', (plane) => {
  let api: KubernetesApi
  const writers: StatusWriter[] = []
  let names = 0

  beforeAll(async () => {
    await applyDefinitions(plane())
    api = await operatorApi(plane(), { ...ACCOUNT, namespaces: [NAMESPACE] })
  }, RESTART_MS)

  afterEach(() => {
    for (const writer of writers.splice(0)) writer.follow()
  })

  afterAll(async () => {
    await api.close()
  })

  const aDocument = async (name = `doc-${(names += 1)}`): Promise<string> => {
    await plane().apply([
      {
        apiVersion: 'gateway.svc.dev/v1alpha1',
        kind: 'ApiSpecification',
        metadata: { namespace: NAMESPACE, name },
        spec: { document: { id: name, host: '_', realm_uri: 'com.shop' } },
      },
    ])
    return name
  }

  const aWriter = (clock: Clock = SYSTEM_CLOCK, log: Log = createSilentLog()): StatusWriter => {
    const writer = new StatusWriter({ api, fieldManager: 'svc-operator', clock, log })
    writers.push(writer)
    writer.lead()
    return writer
  }

  /** As the operator reads it now, and what it has to say of it. */
  const validated = async (name: string, more: StatusOptions = {}): Promise<ResourceStatus> => {
    const object = await api.get(OWN_TYPES.apiSpecifications, { namespace: NAMESPACE, name })
    const { metadata, conditions, errors, programmed } = readOfClass('svc')(
      object,
    ) as ApiSpecificationResource
    const recorded = {
      ...(conditions !== undefined && { conditions }),
      ...(errors !== undefined && { errors }),
      ...(programmed !== undefined && { programmed }),
    }
    return aStatus({ name, metadata, recorded, conditions: GOOD, ...more })
  }

  const read = async (name: string): Promise<StatusOfObject> =>
    demand(await plane().request({ path: `${SPECS}/${name}` })).json() as StatusOfObject

  const types = async (name: string): Promise<readonly string[]> =>
    (await read(name)).status.conditions.map(({ type, status }) => `${type}=${status}`)

  const isWritten = (writer: StatusWriter): Promise<void> =>
    eventually(() => {
      expect(writer.facts.pending).toBe(0)
    }, PATIENT)

  it(
    'a status says what the operator says, and a condition that is left out is gone',
    async () => {
      const name = await aDocument()
      expect(await types(name)).toContain('Ready=Unknown')
      const writer = aWriter()
      const conditions = [
        ...BAD,
        'ResolvedRefs=Unknown',
        'Programmed=False:Invalid:x',
        'Ready=False:Invalid:x',
      ]
      writer.update(statusOf(await validated(name, { conditions, more: { errors: [PROBLEM] } })))
      await isWritten(writer)
      const bad = await read(name)
      expect(bad.status).toMatchObject({ observedGeneration: 1, errors: [PROBLEM] })
      expect(await types(name)).toEqual(expect.arrayContaining(['Accepted=False', 'Stalled=True']))
      const programmed = { generation: 1, digest: 'sha256:abc' }
      writer.update(statusOf(await validated(name, { more: { programmed } })))
      await isWritten(writer)
      expect([...(await types(name))].sort()).toEqual([...GOOD].sort())
      const good = await read(name)
      expect(good.status).toMatchObject({ programmedGeneration: 1, programmedDigest: 'sha256:abc' })
      expect(good.status).not.toHaveProperty('errors')
      expect(good.metadata.generation).toBe(1)
      expect(good.metadata.managedFields).toContainEqual(
        expect.objectContaining({ manager: 'svc-operator', subresource: 'status' }),
      )
      const wait = ['wait', '--for=condition=Programmed', '--timeout=20s', '-n', NAMESPACE]
      expect(await plane().kubectl([...wait, `apispec/${name}`])).toMatchObject({ code: 0 })
    },
    TEST_MS,
  )

  it(
    'a new leader writes nothing for what stands there; and if it did, nothing would change',
    async () => {
      const name = await aDocument()
      const first = aWriter()
      first.update(statusOf(await validated(name)))
      await isWritten(first)
      const { resourceVersion } = (await read(name)).metadata
      const second = aWriter()
      second.update(statusOf(await validated(name)))
      await isWritten(second)
      expect(second.facts.writes).toBe(0)
      // One that knows nothing of what stands there.
      const third = aWriter()
      third.update(statusOf(await validated(name, { recorded: {} })))
      await isWritten(third)
      expect(third.facts.writes).toBe(1)
      expect((await read(name)).metadata.resourceVersion).toBe(resourceVersion)
    },
    TEST_MS,
  )

  it(
    'what somebody else writes over it is put right',
    async () => {
      const name = await aDocument()
      const writer = aWriter()
      writer.update(statusOf(await validated(name)))
      await isWritten(writer)
      const lie = { status: { conditions: [], programmedDigest: 'sha256:lie' } }
      const path = `${SPECS}/${name}/status`
      demand(await plane().request({ method: 'PATCH', path, body: lie }))
      expect(await types(name)).toEqual([])
      writer.update(statusOf(await validated(name)))
      await isWritten(writer)
      expect([...(await types(name))].sort()).toEqual([...GOOD].sort())
    },
    TEST_MS,
  )

  it(
    'a resource that was created again does not get the status of the old one',
    async () => {
      const name = await aDocument()
      const old = await validated(name)
      demand(await plane().request({ method: 'DELETE', path: `${SPECS}/${name}` }))
      await aDocument(name)
      const writer = aWriter()
      writer.update(statusOf(old))
      await eventually(() => {
        expect(writer.facts).toMatchObject({ pending: 0, failing: 0, writes: 1 })
      }, PATIENT)
      expect((await types(name)).every((each) => each.endsWith('=Unknown'))).toBe(true)
      writer.update(statusOf(await validated(name)))
      await isWritten(writer)
      expect([...(await types(name))].sort()).toEqual([...GOOD].sort())
    },
    TEST_MS,
  )

  it(
    'one that was changed since it was read gets it all the same',
    async () => {
      const name = await aDocument()
      const status = await validated(name)
      const labels = { metadata: { labels: { changed: 'yes' } } }
      demand(await plane().request({ method: 'PATCH', path: `${SPECS}/${name}`, body: labels }))
      const writer = aWriter()
      writer.update(statusOf(status))
      await isWritten(writer)
      expect([...(await types(name))].sort()).toEqual([...GOOD].sort())
      expect(writer.facts).toMatchObject({ failing: 0, writes: 1 })
    },
    TEST_MS,
  )

  it(
    'of a resource that has gone nothing is left, and it is not made again',
    async () => {
      const name = await aDocument()
      const status = await validated(name)
      demand(await plane().request({ method: 'DELETE', path: `${SPECS}/${name}` }))
      const writer = aWriter()
      writer.update(statusOf(status))
      await eventually(() => {
        expect(writer.facts).toMatchObject({ pending: 0, writes: 1 })
      }, PATIENT)
      expect((await plane().request({ path: `${SPECS}/${name}` })).status).toBe(404)
    },
    TEST_MS,
  )

  it(
    'rights that are taken away are reported once, and when they are back it is written',
    async () => {
      const name = await aDocument()
      const binding = `svc-gateway-status-writer:${ACCOUNT.operatorNamespace}:${ACCOUNT.serviceAccount}`
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`
      const given = demand(await plane().request({ path: `${path}/${binding}` })).json() as {
        readonly roleRef: object
        readonly subjects: object
      }
      demand(await plane().request({ method: 'DELETE', path: `${path}/${binding}` }))
      await untilForbidden(plane(), {
        user: userOf(ACCOUNT.operatorNamespace, ACCOUNT.serviceAccount),
        verb: 'patch',
        group: 'gateway.svc.dev',
        resource: 'apispecifications',
        subresource: 'status',
        namespace: NAMESPACE,
      })
      const lines: string[] = []
      const log: Log = { ...createSilentLog(), warn: (message) => lines.push(message) }
      // Once a minute, on a clock that is a hundred times as fast.
      const writer = aWriter(
        { ...SYSTEM_CLOCK, after: (ms, callback) => SYSTEM_CLOCK.after(ms / 100, callback) },
        log,
      )
      writer.update(statusOf(await validated(name)))
      await eventually(() => {
        expect(writer.facts.writes).toBeGreaterThan(2)
      }, PATIENT)
      expect(lines).toEqual(['a status cannot be written'])
      const body = {
        metadata: { name: binding },
        roleRef: given.roleRef,
        subjects: given.subjects,
      }
      demand(await plane().request({ method: 'POST', path, body }))
      await eventually(async () => {
        expect(await types(name)).toContain('Ready=True')
      }, PATIENT)
      expect(lines).toHaveLength(1)
    },
    TEST_MS,
  )
})
