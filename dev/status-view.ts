// The address of an operator in; what its `GET /status` says, cut to what the playground shows, out.

export interface StatusView {
  readonly resources: readonly ResourceView[]
  /** What is wrong with the files as such. */
  readonly notes: readonly { readonly message: string }[]
  readonly dataPlanes: readonly { readonly phase: string; readonly message: string }[]
}

export interface ResourceView {
  readonly kind: string
  readonly name: string
  readonly conditions: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
}

/** undefined while nobody answers there, or the operator does not lead yet: then it tells of nothing else. */
export const readStatus = async (url: string): Promise<StatusView | undefined> => {
  try {
    const answer = await fetch(`${url}/status`, { signal: AbortSignal.timeout(1000) })
    // The operator of this very checkout: what it answers is known.
    const status = (await answer.json()) as StatusView | Record<string, never>
    return answer.ok && isView(status) ? status : undefined
  } catch {
    return undefined
  }
}

const isView = (status: StatusView | Record<string, never>): status is StatusView =>
  'resources' in status

export const isReady = ({ conditions }: ResourceView): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True')

/** Every data plane has had its round: whoever is not ready now has a fault. */
export const isSettled = ({ resources, dataPlanes }: StatusView): boolean =>
  resources.length > 0 &&
  dataPlanes.length > 0 &&
  dataPlanes.every(({ phase }) => phase === 'synced') &&
  resources.every(({ conditions }) => conditions.every(({ reason }) => reason !== 'Pending'))
