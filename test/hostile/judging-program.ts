// The validating half of an operator with a small heap, its webhook included: a tenant has documents that are too expensive,
// others have large and small ones. Says on stdout, a line of JSON each, where the webhook is and what becomes of each.

import { readFileSync } from 'node:fs'
import { SYSTEM_CLOCK } from '../../base/clock.ts'
import { startAdmissionServer } from '../../operator/admission/admission-server.ts'
import { validateReview } from '../../operator/admission/validate-review.ts'
import { Controller } from '../../operator/controller/controller.ts'
import { createOperatorCompiler, CachingCompiler } from '../../operator/document-compiler.ts'
import { staticDataPlanes } from '../../operator/fleet/static-data-planes.ts'
import { alwaysLeading } from '../../operator/leadership.ts'
import { recordedStatus, statusObject } from '../../operator/status/kubernetes-status-object.ts'
import { startEpoch } from '../../operator/epoch.ts'
import type { Resource } from '../../operator/resource/resource.ts'
import { createSilentLog } from '../../telemetry/log.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { aSpecification, cacheOf, resourceOf } from '../support/resources.ts'
import { manyOperations, manyRoutes } from '../compiler/costly-documents.ts'

const [costlyDocuments = '', statusFile = ''] = process.argv.slice(2)

/** Name of a resource → its status as the API server kept it, of an operator before this one. */
const kept = JSON.parse(statusFile === '' ? '{}' : readFileSync(statusFile, 'utf8')) as Record<
  string,
  object
>

/** Enough for a document of 80 KB, too little for 20,000 routes. */
const LIMITS = { maxRoutes: 20_000, memoryMb: 18, timeMs: 60_000 }

const specification = (namespace: string, name: string, document: object): Resource =>
  resourceOf(
    'ApiSpecification',
    name,
    { spec: { document }, ...(kept[name] !== undefined && { status: kept[name] }) },
    { namespace },
  )

const resources = [
  resourceOf('Realm', 'shop', { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } }),
  ...Array.from({ length: Number(costlyDocuments) }, (_, i) =>
    specification('mallory', `worst-${i}`, manyRoutes(`worst-${i}`, 20_000)),
  ),
  specification('bob', 'large', manyOperations('large', 80)),
  specification('alice', 'small', aSpecification('small')),
]

const say = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const log = createSilentLog()
const compiler = createOperatorCompiler({ limits: LIMITS, timers: SYSTEM_CLOCK })
const counted: typeof compiler.compile = (request) => {
  const result = compiler.compile(request)
  if (result instanceof Promise && request.namespace === 'mallory' && request.purpose !== 'review')
    say({ tried: request.namespace })
  return result
}
const told = new Set<string>()
const controller = new Controller({
  source: {
    start: (onChange) => {
      onChange()
      return Promise.resolve()
    },
    synced: () => true,
    current: () => cacheOf(resources),
    confirm: () => Promise.resolve(false),
    stop: () => Promise.resolve(),
  },
  fleet: {
    dataPlanes: staticDataPlanes([]),
    manager: 'svc-operator',
    credentials: () => Promise.reject(new Error('there is no data plane')),
  },
  leadership: alwaysLeading(startEpoch(() => 1)),
  validating: { className: 'svc' },
  compiler: (onResult) =>
    new CachingCompiler({
      compiler: {
        compile: counted,
        isSmall: (document) => compiler.isSmall(document),
        limitsVersion: compiler.limitsVersion,
      },
      onResult,
      log,
    }),
  clock: SYSTEM_CLOCK,
  log,
  onStatus: (status) => {
    for (const each of status.resources.values()) {
      const { name, namespace } = each.result.resource.metadata
      const { status: is, reason } = each.result.accepted
      if (is === 'Unknown' || told.has(name)) continue
      told.add(name)
      say({
        name,
        namespace,
        accepted: reason,
        status: statusObject(each),
        before: recordedStatus(each.result.resource),
      })
    }
  },
})

const ca = createCertificateAuthority('webhook CA')
const pair = ca.issue('hook.test')
const compile = compiler.compile.bind(compiler)
const server = await startAdmissionServer({
  address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
  certificate: () => pair,
  paths: { '/validate': (review) => validateReview(review, { className: 'svc', compile }) },
  log,
})
say({ url: server.url, ca: ca.cert })
await controller.start()
