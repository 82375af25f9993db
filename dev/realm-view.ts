// The management address of a gateway in; whether its realms have joined their routers, out.

interface RealmView {
  readonly router?: object
  readonly sessions: readonly { readonly state: string }[]
}

/** Every realm with a router has a session that is open. False also while nobody answers there. */
export const haveJoined = async (management: string): Promise<boolean> => {
  try {
    const answer = await fetch(`${management}/realms`, { signal: AbortSignal.timeout(1000) })
    // The gateway of this very checkout: what it answers is known.
    const realms = (await answer.json()) as readonly RealmView[]
    return realms.every(
      ({ router, sessions }) =>
        router === undefined || sessions.some(({ state }) => state === 'open'),
    )
  } catch {
    return false
  }
}
