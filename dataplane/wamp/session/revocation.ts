// Creates the promise by which a session reports, once, that the router has ended a subscription or registration by
// itself.

export interface Revocation {
  readonly revoked: Promise<void>
  readonly onRevoked: () => void
}

/** A promise, as the revocation may arrive in one piece with the acknowledgement, before the caller can listen. */
export const createRevocation = (): Revocation => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    revoked: promise,
    onRevoked: () => {
      resolve(undefined)
    },
  }
}
