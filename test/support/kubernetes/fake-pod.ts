// Creates a Pod that no scheduler and no kubelet touches, with a name, an address and a port, and the status that the
// test wants. So a process of this machine can be the Pod of a data plane.

import { randomBytes } from 'node:crypto'
import { eventually } from '../eventually.ts'
import { type ApiRequest, type ApiResponse, demand } from './api-client.ts'

export interface FakePodOptions {
  /** `default` otherwise; made where it is missing. */
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly serviceAccountName?: string
  /** Any: 127.0.1.7 for a process of this machine. */
  readonly ip: string
  /** Of the container; `gateway` otherwise. */
  readonly container?: string
  /** The containerPorts of that container by name: `{ management: 9090 }`. */
  readonly ports: Readonly<Record<string, number>>
  /** `true` otherwise. */
  readonly ready?: boolean
  /** The container is a native sidecar (an init container with `restartPolicy: Always`) beside one called `app`. */
  readonly sidecar?: boolean
}

export interface FakePod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** `containerd://…`; another one after `restartContainer`. */
  readonly containerID: string
  readonly isReady: boolean
  setReady(isReady: boolean): Promise<void>
  /** In place: the Pod stays, another process runs in it. */
  restartContainer(how?: { readonly ready?: boolean }): Promise<void>
  /** Merged over the status, for what the others don't say: `{ phase: 'Failed' }`. */
  patchStatus(status: object): Promise<void>
  /** At once, as it is on no node. */
  delete(): Promise<void>
}

type Send = (request: ApiRequest) => Promise<ApiResponse>

/** @example await plane.fakePod({ name: 'gateway-0', ip: '127.0.1.1', ports: { management: 9090 } }) */
export const createFakePod = async (send: Send, options: FakePodOptions): Promise<FakePod> => {
  const { namespace = 'default', name } = options
  const uid = await create(send, options, namespace)
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`
  const state: ContainerState = {
    containerID: newContainerID(),
    isReady: options.ready ?? true,
    restartCount: 0,
  }
  const patchStatus = async (status: object): Promise<void> => {
    demand(await send({ method: 'PATCH', path: `${path}/status`, body: { status } }))
  }
  const tell = (): Promise<void> => patchStatus(statusOf(options, state))
  await tell()
  return {
    namespace,
    name,
    uid,
    get containerID() {
      return state.containerID
    },
    get isReady() {
      return state.isReady
    },
    patchStatus,
    setReady: (isReady) => {
      state.isReady = isReady
      return tell()
    },
    restartContainer: ({ ready = state.isReady } = {}) => {
      state.containerID = newContainerID()
      state.restartCount += 1
      state.isReady = ready
      return tell()
    },
    delete: async () => {
      demand(await send({ method: 'DELETE', path }), 404)
    },
  }
}

interface ContainerState {
  containerID: string
  isReady: boolean
  restartCount: number
}

const newContainerID = (): string => `containerd://${randomBytes(32).toString('hex')}`

const create = async (send: Send, options: FakePodOptions, namespace: string): Promise<string> => {
  const namespaceBody = { metadata: { name: namespace } }
  demand(await send({ method: 'POST', path: '/api/v1/namespaces', body: namespaceBody }), 409)
  const path = `/api/v1/namespaces/${namespace}/pods`
  // In a new namespace the controllers have yet to make the account `default`: 403 until then.
  const received = await eventually(
    async () => {
      const response = await send({ method: 'POST', path, body: podOf(options) })
      if (response.status === 403) throw new Error(response.text)
      return response
    },
    { withinMs: 20_000 },
  )
  demand(received)
  return (received.json() as { readonly metadata: { readonly uid: string } }).metadata.uid
}

const IMAGE = 'none'

const containerName = ({ container = 'gateway' }: FakePodOptions): string => container

const podOf = (options: FakePodOptions): object => {
  const { name, labels = {}, annotations = {}, serviceAccountName, ports, sidecar } = options
  const container = {
    name: containerName(options),
    image: IMAGE,
    ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
  }
  const containers =
    sidecar === true
      ? {
          initContainers: [{ ...container, restartPolicy: 'Always' }],
          containers: [{ name: 'app', image: IMAGE }],
        }
      : { containers: [container] }
  return {
    metadata: { name, labels, annotations },
    spec: {
      schedulerName: 'none',
      automountServiceAccountToken: false,
      ...(serviceAccountName !== undefined && { serviceAccountName }),
      ...containers,
    },
  }
}

const statusOf = (options: FakePodOptions, state: ContainerState): object => {
  const status = state.isReady ? 'True' : 'False'
  const own = containerStatus(containerName(options), state)
  const containers =
    options.sidecar === true
      ? {
          initContainerStatuses: [own],
          containerStatuses: [containerStatus('app', { ...state, containerID: APP_CONTAINER_ID })],
        }
      : { containerStatuses: [own] }
  return {
    phase: 'Running',
    podIP: options.ip,
    podIPs: [{ ip: options.ip }],
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: type.endsWith('Ready') ? status : 'True',
    })),
    ...containers,
  }
}

const APP_CONTAINER_ID = 'containerd://app'

const containerStatus = (name: string, state: ContainerState): object => ({
  name,
  image: IMAGE,
  imageID: '',
  containerID: state.containerID,
  ready: state.isReady,
  started: true,
  restartCount: state.restartCount,
  state: { running: { startedAt: new Date().toISOString() } },
})
