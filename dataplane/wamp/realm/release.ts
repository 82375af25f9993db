// What a session holds for us in, let go of when its turn comes. Never rejects: nobody has a use for a refusal.

import type { Log } from '../../../telemetry/log.ts'
import type { RouterRequestLimiter } from './router-request-limiter.ts'
import type { SessionHold } from '../session/joined-session.ts'

export interface ReleaseParts {
  readonly realmUri: string
  readonly log: Log
  readonly requestLimiter: RouterRequestLimiter
}

export const releaseHold = async (
  hold: SessionHold | undefined,
  { realmUri, log, requestLimiter }: ReleaseParts,
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
