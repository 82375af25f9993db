// An API server that has Leases only, in a simulated world: requests travel, are carried out by compare-and-swap as the
// real one does (a PUT with a uid makes nothing), and get lost on either way where the test wants it.

import {
  ApiError,
  type KubernetesApi,
  type ObjectName,
  type ResourceType,
} from '../../../../operator/kubernetes/client/api.ts'
import { mapAt } from '../../../../language/expression/members.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import type { SimulatedProcess, SimulatedTime } from '../simulated-time.ts'

export type Leases = Pick<KubernetesApi, 'get' | 'create' | 'replace'>

/** What becomes of one request. */
export interface Travel {
  readonly thereMs: number
  readonly backMs: number
  readonly fate?: 'lost_there' | 'lost_back' | 429 | 500 | 403
}

export const QUICK: Travel = { thereMs: 2, backMs: 2 }

export class FakeLeases {
  readonly writes: ValueMap[] = []
  /** Nothing is carried out until then. */
  pausedUntilMs = 0
  requests = 0
  readonly #time: SimulatedTime
  readonly #objects = new Map<string, ValueMap>()
  #version = 0

  constructor(time: SimulatedTime) {
    this.#time = time
  }

  /** The API as that process sees it. */
  for(process: SimulatedProcess, travel: () => Travel = () => QUICK): Leases {
    const call = (run: () => ValueMap): Promise<ValueMap> =>
      this.#call(run, { process, travel: travel() })
    return {
      get: (_type: ResourceType, name: ObjectName) => call(() => this.#get(name)),
      create: (_type, namespace, object) => call(() => this.#create(namespace, object)),
      replace: (_type, name, object) => call(() => this.#replace(name, object)),
    }
  }

  lease(name = 'svc/lease'): ValueMap | undefined {
    return this.#objects.get(name)
  }

  spec(name?: string): ValueMap {
    return mapAt(this.lease(name) ?? {}, 'spec')
  }

  epochOf(name?: string): unknown {
    const annotations = mapAt(mapAt(this.lease(name) ?? {}, 'metadata'), 'annotations')
    return annotations['gateway.svc.dev/epoch'] ?? this.spec(name)['leaseTransitions']
  }

  /** As a person does with kubectl. */
  edit(change: (spec: ValueMap) => ValueMap, name = 'svc/lease'): void {
    const object = this.#objects.get(name)
    if (object !== undefined) this.#keep(name, { ...object, spec: change(mapAt(object, 'spec')) })
  }

  put(object: ValueMap, name = 'svc/lease'): void {
    this.#version += 1
    const metadata = { ...mapAt(object, 'metadata'), uid: `uid-${this.#version}` }
    this.#keep(name, { ...object, metadata })
  }

  remove(name = 'svc/lease'): void {
    this.#objects.delete(name)
  }

  #get({ namespace, name }: ObjectName): ValueMap {
    const object = this.#objects.get(`${namespace}/${name}`)
    if (object === undefined) throw new ApiError('not found', { status: 404, reason: 'NotFound' })
    return object
  }

  #create(namespace: string, object: ValueMap): ValueMap {
    const name = `${namespace}/${JSON.stringify(mapAt(object, 'metadata')['name']).slice(1, -1)}`
    if (this.#objects.has(name)) {
      throw new ApiError('already exists', { status: 409, reason: 'AlreadyExists' })
    }
    this.writes.push(object)
    this.put(object, name)
    return this.#objects.get(name) ?? {}
  }

  #replace({ namespace, name }: ObjectName, object: ValueMap): ValueMap {
    const key = `${namespace}/${name}`
    const before = mapAt(this.#objects.get(key) ?? {}, 'metadata')
    const wanted = mapAt(object, 'metadata')
    if (wanted['uid'] === undefined) throw new Error('a PUT without a uid may make a Lease')
    if (
      wanted['uid'] !== before['uid'] ||
      wanted['resourceVersion'] !== before['resourceVersion']
    ) {
      throw new ApiError('conflict', { status: 409, reason: 'Conflict' })
    }
    this.writes.push(object)
    this.#keep(key, object)
    return this.#objects.get(key) ?? {}
  }

  #keep(name: string, object: ValueMap): void {
    this.#version += 1
    const metadata = {
      ...mapAt(object, 'metadata'),
      resourceVersion: String(this.#version),
      managedFields: [],
    }
    this.#objects.set(name, { ...object, metadata })
  }

  #call(
    run: () => ValueMap,
    { process, travel }: { readonly process: SimulatedProcess; readonly travel: Travel },
  ): Promise<ValueMap> {
    this.requests += 1
    const { promise, resolve, reject } = Promise.withResolvers<ValueMap>()
    const { thereMs, backMs, fate } = travel
    const answer = (settle: () => void): void => {
      this.#time.at(this.#time.nowMs + backMs, () => {
        process.deliver(settle)
      })
    }
    const fail = (error: unknown): void => {
      answer(() => {
        reject(error)
      })
    }
    const carryOut = (): void => {
      if (this.#time.nowMs < this.pausedUntilMs) {
        this.#time.at(this.pausedUntilMs, carryOut)
        return
      }
      if (fate === 'lost_there') {
        fail(new ApiError('connection lost', { status: 0 }))
        return
      }
      if (typeof fate === 'number') {
        fail(new ApiError(`answered ${fate}`, { status: fate }))
        return
      }
      try {
        const value = run()
        if (fate === 'lost_back') fail(new ApiError('connection lost', { status: 0 }))
        else {
          answer(() => {
            resolve(value)
          })
        }
      } catch (error) {
        fail(error)
      }
    }
    this.#time.at(this.#time.nowMs + thereMs, carryOut)
    return promise
  }
}
