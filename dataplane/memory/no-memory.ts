// Creates the errors for requests that there is no memory for.

import { GatewayError } from '../gateway-error.ts'

/** 503 with `Retry-After`. */
export const noMemory = (cause?: unknown): GatewayError => refusal({}, cause)

/** The same for a body that was not read: its connection cannot be used for another request. */
export const noMemoryToRead = (): GatewayError => refusal({ connection: 'close' })

const refusal = (headers: Readonly<Record<string, string>>, cause?: unknown): GatewayError =>
  new GatewayError('svc.error.overloaded', NO_MEMORY, {
    description: 'Try again in a moment.',
    headers: { ...headers, 'retry-after': '1' },
    cause,
  })

export const NO_MEMORY = 'The gateway is short of memory and cannot handle this request now'
