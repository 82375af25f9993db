// Lists and watches that a test answers one by one: the API as a reflector sees it, without HTTP.

import {
  ApiError,
  type KubernetesApi,
  type ListOptions,
  type ObjectList,
  type WatchEvent,
  type WatchOptions,
} from '../../../operator/kubernetes/client/api.ts'

/** One thing that the reflector has asked and that waits for the test. */
export type Asked =
  | {
      readonly call: 'list'
      readonly options: ListOptions
      answer(list: ObjectList): void
      fail(error: unknown): void
    }
  | {
      readonly call: 'watch'
      readonly options: WatchOptions
      /** Open if it was not; all in one piece. */
      tell(...events: readonly WatchEvent[]): void
      end(): void
      fail(error: unknown): void
    }

export interface FakeApi {
  readonly api: KubernetesApi
  /** What was asked and was not taken yet. */
  readonly asked: Asked[]
  /** The API server is back after it was away. */
  returned(): void
  /** Who waits for that. */
  readonly waiting: number
}

export const createFakeApi = (): FakeApi => {
  const asked: Asked[] = []
  const listeners = new Set<() => void>()
  const unused = (): Promise<never> => Promise.reject(new Error('not of a reflector'))
  return {
    asked,
    returned: () => {
      for (const listener of [...listeners]) listener()
    },
    get waiting() {
      return listeners.size
    },
    api: {
      list: (_, options, signal) =>
        new Promise((resolve, reject) => {
          const fail = (error: unknown): void => {
            reject(asError(error))
          }
          signal?.addEventListener('abort', () => {
            fail(signal.reason)
          })
          asked.push({ call: 'list', options, answer: resolve, fail })
        }),
      watch: (_, options, signal) => watching(asked, options, signal),
      get: unused,
      create: unused,
      replace: unused,
      apply: unused,
      patch: unused,
      delete: unused,
      onReturn: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      close: () => Promise.resolve(),
    },
  }
}

async function* watching(
  asked: Asked[],
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const pieces: WatchEvent[][] = []
  let outcome: { readonly error?: unknown } | undefined
  let wake = (): void => undefined
  let isOpen = false
  signal.addEventListener('abort', () => {
    wake()
  })
  const end = (how: { readonly error?: unknown }): void => {
    outcome = how
    wake()
  }
  const tell = (...events: readonly WatchEvent[]): void => {
    if (!isOpen) options.onOpen?.()
    isOpen = true
    pieces.push([...events])
    wake()
  }
  const fail = (error: unknown): void => {
    end({ error })
  }
  asked.push({
    call: 'watch',
    options,
    tell,
    fail,
    end: () => {
      end({})
    },
  })
  for (;;) {
    signal.throwIfAborted()
    const piece = pieces.shift()
    if (piece !== undefined) yield* piece
    else if (outcome === undefined) await new Promise<void>((resolve) => (wake = resolve))
    else if ('error' in outcome) throw asError(outcome.error)
    else return
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new ApiError('thrown', { status: 0, cause: error })
