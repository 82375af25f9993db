// Reads `GET /status` of an operator, reduced to what a person waits for.

export interface StatusView {
  /** The files have been read. */
  readonly ready: boolean
  readonly resources: readonly ResourceView[]
  /** Problems of the files themselves. */
  readonly notes: readonly { readonly severity: string; readonly message: string }[]
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

/** undefined while the operator does not respond, or does not lead yet: then it reports nothing else. */
export const readStatus = async (url: string): Promise<StatusView | undefined> => {
  try {
    const response = await fetch(`${url}/status`, { signal: AbortSignal.timeout(1000) })
    // The operator is of this installation, so the form of its response is known.
    const status = (await response.json()) as StatusView | Record<string, never>
    return response.ok && isView(status) ? status : undefined
  } catch {
    return undefined
  }
}

const isView = (status: StatusView | Record<string, never>): status is StatusView =>
  'resources' in status

export const isReady = ({ conditions }: ResourceView): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True')

/** Every data plane has been reconciled: a resource that is not ready now has a problem. */
export const isSettled = ({ ready, resources, dataPlanes }: StatusView): boolean =>
  ready &&
  dataPlanes.length > 0 &&
  dataPlanes.every(({ phase }) => phase === 'synced' || phase === 'holding') &&
  resources.every(({ conditions }) => conditions.every(({ reason }) => reason !== 'Pending'))
