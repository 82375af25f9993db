// Confines an exception to the resource that it was thrown for: the resource counts as one whose spec can't be read, so
// that its last good version serves on, and all others are reconciled.

import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

/** Told once for each spec. @param key of the resource */
export type OnFailure = (key: string, error: unknown) => void

type Spec = ApiSpecificationResource | RealmResource

export class FailedResources<R extends Spec> {
  readonly #onFailure: OnFailure
  /** What replaces `checked`; an operator's own writing into the status makes another resource of the same spec. */
  readonly #failed = new WeakMap<Spec['checked'], R['checked']>()
  /** The same object for the same resource, so that nothing looks like a change. */
  readonly #standIns = new WeakMap<R, R>()

  constructor(onFailure: OnFailure) {
    this.#onFailure = onFailure
  }

  /** Does `work` with the resource or, where that has thrown, with its stand-in, until its spec changes. */
  confine<T>(key: string, resource: R, work: (resource: R) => T): T {
    const failed = this.#failed.get(resource.checked)
    if (failed !== undefined) return work(this.#standIn(resource, failed))
    try {
      return work(resource)
    } catch (error) {
      this.#onFailure(key, error)
      const checked = { problems: [problemOf(error)] }
      this.#failed.set(resource.checked, checked)
      return work(this.#standIn(resource, checked))
    }
  }

  #standIn(resource: R, checked: R['checked']): R {
    const known = this.#standIns.get(resource)
    if (known !== undefined) return known
    const standIn = { ...resource, checked }
    this.#standIns.set(resource, standIn)
    return standIn
  }
}

/** Its message may quote a value, and stays in the log. */
const problemOf = (error: unknown): { code: 'invalid_value'; path: string; message: string } => ({
  code: 'invalid_value',
  path: '/spec',
  message:
    `the operator failed on this resource (${error instanceof Error ? error.name : 'an error'}; its log says more). ` +
    'That is a fault of the operator: report it, and write the resource in another way',
})
