// Releases a subscription or registration of a session when the request limiter permits it. It never rejects: no caller
// has a use for the error.

import type { Log } from '../../../telemetry/log.ts'
import type { RouterRequestLimiter } from './router-request-limiter.ts'
import type { SessionHold } from '../session/joined-session.ts'

export interface ReleaseDeps {
  readonly realmUri: string
  readonly log: Log
  readonly requestLimiter: RouterRequestLimiter
}

export const releaseHold = async (
  hold: SessionHold | undefined,
  { realmUri, log, requestLimiter }: ReleaseDeps,
): Promise<void> => {
  if (hold === undefined) return
  try {
    await requestLimiter.run(
      () => hold.release(),
      () => undefined,
    )
  } catch (error) {
    log.debug('a subscription or registration was not ended by the router', {
      realm: realmUri,
      error,
    })
  }
}
