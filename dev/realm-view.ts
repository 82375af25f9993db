// Asks the management API of a gateway whether its realms have joined their routers.

interface RealmView {
  readonly router?: object
  readonly sessions: readonly { readonly state: string }[]
}

/** Whether every realm with a router has an open session. False also while the gateway does not respond. */
export const haveJoined = async (management: string): Promise<boolean> => {
  try {
    const response = await fetch(`${management}/realms`, { signal: AbortSignal.timeout(1000) })
    // The gateway is of this checkout, so the form of its response is known.
    const realms = (await response.json()) as readonly RealmView[]
    return realms.every(
      ({ router, sessions }) =>
        router === undefined || sessions.some(({ state }) => state === 'open'),
    )
  } catch {
    return false
  }
}
