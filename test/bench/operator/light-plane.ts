// Starts a light API server as a process of its own, in the place of a control plane and of its audit log: a large
// benchmark takes two minutes with it. What it measures of the API server itself means nothing.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createAccountToken } from '../../support/kubernetes/account-token.ts'
import { createApiClient, type ApiRequest, demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { writeKubeconfig } from '../../support/kubernetes/credentials.ts'
import { createFakePod } from '../../support/kubernetes/fake-pod.ts'
import type { AuditLog, RequestCount } from './audit-log.ts'

/** What of a control plane the benchmark uses. */
export type BenchPlane = Pick<
  ControlPlane,
  'server' | 'kubeconfig' | 'ca' | 'apply' | 'request' | 'serviceAccount' | 'fakePod'
>

export interface LightPlane extends AsyncDisposable {
  readonly plane: BenchPlane
  readonly audit: AuditLog
}

const PROGRAM = join(import.meta.dirname, 'light-api-program.ts')

export const startLightPlane = async (directory: string): Promise<LightPlane> => {
  const child = fork(PROGRAM, [], { execArgv: [], stdio: 'inherit' })
  const [opened] = (await once(child, 'message')) as [
    { readonly ca: string; readonly port: number },
  ]
  const server = `https://127.0.0.1:${opened.port}`
  const api = createApiClient(server, opened.ca, 'light')
  const send = (request: ApiRequest): ReturnType<typeof api.send> => api.send(request)
  const kubeconfigOf = (name: string): Promise<string> =>
    writeKubeconfig(join(directory, name), { server, ca: opened.ca, token: 'light' })
  const plane: BenchPlane = {
    server,
    ca: opened.ca,
    kubeconfig: await kubeconfigOf('light.kubeconfig'),
    request: send,
    apply: async (objects) => {
      if (typeof objects === 'string') await applyDefinition(send, objects)
      else for (const object of objects) await applyObject(send, object)
    },
    serviceAccount: async (namespace, name) => {
      await createAccountToken(send, namespace, name)
      return kubeconfigOf('account.kubeconfig')
    },
    fakePod: (pod) => createFakePod(send, pod),
  }
  return {
    plane,
    audit: {
      flags: [],
      mark: () => {
        child.send('mark')
        return Promise.resolve()
      },
      read: async () => {
        const told = once(child, 'message')
        child.send('read')
        const [{ counts }] = (await told) as [{ readonly counts: readonly [string, number][] }]
        return counts.map(countOf)
      },
    },
    [Symbol.asyncDispose]: async () => {
      api[Symbol.dispose]()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

const countOf = ([key, count]: [string, number]): RequestCount => {
  const [verb = '', resource = ''] = key.split(' ')
  return { verb, resource, count }
}

type Send = Parameters<typeof createFakePod>[0]

const PLURALS: Readonly<Record<string, string>> = {
  Realm: 'realms',
  Lease: 'leases',
}

/** Rights mean nothing to it: of other kinds nothing is kept. */
const applyObject = async (send: Send, object: object): Promise<void> => {
  const { apiVersion, kind, metadata } = object as {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: { readonly namespace?: string; readonly name: string }
  }
  const plural = PLURALS[kind]
  if (plural === undefined || metadata.namespace === undefined) return
  const path = `/apis/${apiVersion}/namespaces/${metadata.namespace}/${plural}/${metadata.name}`
  const contentType = 'application/apply-patch+yaml'
  demand(await send({ method: 'PATCH', path, contentType, body: object }))
}

/** @param text of a CustomResourceDefinition, of which only the name counts */
const applyDefinition = async (send: Send, text: string): Promise<void> => {
  const name = /^ {2}name: (\S+)$/m.exec(text)?.[1] ?? ''
  const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  demand(await send({ method: 'POST', path: collection, body: { metadata: { name } } }), 409)
  const status = { conditions: [{ type: 'Established', status: 'True' }] }
  demand(await send({ method: 'PATCH', path: `${collection}/${name}/status`, body: { status } }))
}
